import { describeOperator } from "../../../test/contracts/operator/describe-operator.ts"
import { describePostgres } from "../../../test/support/postgres-suite.ts"
import { openPostgresStore } from "../../store/postgres-store.ts"

await describePostgres("the operator's channel", (server) => {
  describeOperator("in PostgreSQL", async () => openPostgresStore({ url: await server.createDatabase() }))
})
