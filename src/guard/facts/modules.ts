import { wordSet } from "../../language/word-forms.ts"
import { namesControl } from "./controls.ts"
import type { OpenKind } from "./leaf.ts"

/** A call whose name says that something is taken away. */
export const takingAway =
  /(?:\b|[._])(?:delete\w*|unlink\w*|rm|rm_?rf?|rmSync|removeSync|remove\w*|drop\w*|destroy\w*|purge\w*|truncate\w*|rmtree|flush\w*)\s*[("'\s]/i

/** Libraries that send mail. */
export const mailLibraries =
  /\b(?:smtplib|nodemailer|sendMail|sendmail|sendEmail|MailApp|GmailApp|send_(?:\w+_)?e?mail|yagmail|redmail|mailgun|sendgrid|postmark(?:er)?|emails|resend|SMTP|ActionMailer|outgoing message|tell application "(?:Mail|Messages|Microsoft Outlook|Spark)")\b/

/** What a program may have to do with that hands something to a module of which nothing is known, by the words in it. */
const subjects: readonly (readonly [what: OpenKind, words: RegExp])[] = [
  ["recipients", /[\w.+-]@[\w-]+\.\w|e-?mail|recipient|\.send\w*\(/i],
  ["paths", /secret|passw(?:or)?d|credential|vault|private_?key/i],
  ["amounts", /\b(?:pay|charge|purchase|payout|transfer|checkout|amount)\w*/i],
  ["statements", takingAway],
]
export const mayConcern = (text: string): readonly OpenKind[] => [
  "network",
  "hosts",
  // Recipients given to a mail library are read separately.
  ...subjects.flatMap(([what, words]) =>
    words.test(text) && !(what === "recipients" && mailLibraries.test(text)) ? [what] : [],
  ),
  ...(namesControl(text.replace(/\benabled?\b/gi, "")) ? (["controls"] as const) : []),
]

/** Modules of the usual languages that use no network by themselves: what a program loads beside these may do anything. */
const offline = wordSet(
  // Python, its own
  "urllib.parse urllib.error __future__ abc argparse array ast asyncio atexit base64 binascii bisect builtins bz2 calendar cmath",
  "cmd code codecs collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv curses",
  "dataclasses datetime dbm decimal difflib dis doctest email enum errno faulthandler filecmp fileinput fnmatch fractions functools",
  "gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html imghdr inspect io ipaddress itertools json keyword",
  "linecache locale logging lzma math mimetypes mmap multiprocessing numbers operator os pathlib pdb pickle pkgutil platform",
  "plistlib posixpath pprint profile pwd py_compile pyclbr queue quopri random re readline reprlib resource runpy sched secrets",
  "select selectors shelve shlex shutil signal site sqlite3 stat statistics string stringprep struct subprocess symtable sys",
  "sysconfig tarfile tempfile textwrap threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc types",
  "typing unicodedata unittest uuid venv warnings weakref xml zipapp zipfile zipimport zlib zoneinfo",
  // Python, what calculations, tables, pictures and tests are made with
  "numpy pandas polars scipy sklearn statsmodels matplotlib seaborn plotly bokeh altair sympy networkx pyarrow duckdb numba cython",
  "xarray dask joblib tqdm rich click typer tabulate yaml ruamel toml tomli tomli_w dotenv jinja2 markdown bs4 lxml html5lib",
  "openpyxl xlsxwriter docx pptx PyPDF2 pypdf pdfplumber reportlab PIL cv2 skimage imageio torch tensorflow keras jax xgboost",
  "lightgbm catboost nltk spacy tokenizers tiktoken pytest hypothesis attr attrs pydantic dateutil pytz regex chardet packaging",
  "setuptools pkg_resources colorama termcolor pygments jsonschema msgpack orjson ujson simplejson cryptography IPython ipywidgets",
  "shapely geopandas rasterio h5py tables netCDF4 zarr sortedcontainers more_itertools toolz pint psutil sqlalchemy sqlglot",
  "sqlparse black isort libcst radon coverage freezegun faker mypy",
  // Node.js and what is used beside it
  "assert async_hooks buffer child_process cluster console constants crypto diagnostics_channel domain events fs module os path",
  "perf_hooks process punycode querystring readline repl stream string_decoder sys test timers tty url util v8 vm wasi",
  "worker_threads zlib typescript esbuild rollup vite vitest jest mocha chai sinon lodash underscore ramda dayjs moment luxon",
  "date-fns uuid nanoid chalk kleur picocolors commander yargs minimist zod ajv joi glob globby fast-glob micromatch minimatch",
  "semver yaml js-yaml toml ini dotenv csv-parse papaparse cheerio jsdom marked markdown-it prettier eslint postcss sass handlebars",
  "mustache ejs pug acorn recast magic-string fs-extra mkdirp rimraf execa react react-dom vue svelte immer rxjs mathjs decimal.js",
  "bignumber.js sharp canvas d3 better-sqlite3 ts-morph @babel @types @testing-library fast-check tslib",
  // Ruby, Perl, Go
  "set date ostruct fileutils pathname optparse erb digest securerandom bigdecimal English forwardable pp benchmark rspec minitest",
  "strict warnings utf8 feature constant POSIX Data List Getopt File Cwd Time Text Encode Carp Scalar Storable Term Tie Math JSON",
  "Digest autodie parent base lib open vars integer fmt strings strconv sort encoding bufio errors bytes regexp sync context log",
  "flag unicode reflect slices maps container hash testing math/rand runtime embed iter cmp",
)

/** Ways to load a module in the usual languages. A relative one is a file of the project. */
const loads: readonly RegExp[] = [
  /^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b/gm,
  /(?:^|[;\n])[ \t]*import[ \t]+([A-Za-z_][\w., \t]*)(?=$|[;\n#])/gm,
  /\b__import__\(\s*["']([\w.]+)["']/g,
  /\bimport_module\(\s*["']([\w.]+)["']/g,
  /\b(?:require|import)\s*\(\s*["'`]([^"'`\n]+)["'`]/g,
  /\b(?:from|import)\s+["']([^"'\n]+)["']/g,
  /^[ \t]*require\s+["']([^"'\n]+)["']/gm,
  /^[ \t]*use\s+([A-Z][\w:]*)/gm,
]

/** Parts of such modules that do use it. */
const online =
  /^(?:logging\.(?:handlers|config)|multiprocessing\.(?:connection|managers)|concurrent\.interpreters|tkinter\.dnd)$/
const strangeLoop =
  /\basyncio\.(?!(?:run|sleep|gather|wait|wait_for|create_task|ensure_future|Queue|Lock|Semaphore|BoundedSemaphore|Event|Condition|to_thread|timeout|TaskGroup|Task|Future|as_completed|shield|CancelledError|TimeoutError|iscoroutine\w*|get_running_loop|get_event_loop|new_event_loop|set_event_loop\w*|create_subprocess_\w+|subprocess|current_task|all_tasks|Runner|run_coroutine_threadsafe)\b)\w+/

/** The first module that a program loads of which nobody has said that it uses no network. */
export function strangeModule(code: string): string | undefined {
  if (strangeLoop.test(code)) return "asyncio"
  for (const pattern of loads)
    for (const [, list = ""] of code.matchAll(pattern))
      for (const written of list.split(",")) {
        const name = (written.trim().split(/\s/)[0] ?? "").replace(/^node:/, "")
        if (name === "" || /^[./]/.test(name)) continue
        const root = name.split(/[./]|::/)[0] ?? ""
        if (online.test(name) || (!offline.has(name) && !offline.has(root))) return name
      }
  return undefined
}
