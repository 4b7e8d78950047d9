/**
 * Chinese words that rules turn on, in the English that rules are read in. The order of words is near enough to the English one; longer
 * words come first.
 */
const words: readonly (readonly [chinese: string, english: string])[] = [
  ["无论如何都不要|在任何情况下都不要|任何情况下都不得|在任何情况下都不得", "never"],
  ["绝对不要|绝不能|绝不要|千万不要|千万别|永远不要|永远不得|绝对不能|绝不|切勿|从不", "never"],
  ["不允许|不准|不得|不可以|不可|不能|禁止|严禁|不要|请勿|勿|别", "never"],
  ["(?:没有|没)我(?:的)?(?:同意|批准|许可|允许)", "without my approval"],
  ["未经我(?:的)?(?:同意|批准|许可|允许|确认)", "without my approval"],
  [
    "(?:必须|需要|要)?(?:先)?(?:征得|得到|经过|获得)我(?:的)?(?:同意|批准|许可|确认)(?:后)?(?:才能|才可以)?",
    "needs my approval",
  ],
  ["(?:必须|需要|请|要)?(?:先)?(?:问我|询问我|向我确认|跟我确认|和我确认|征求我的(?:同意|意见))", "ask me"],
  ["生产(?:环境的?)?数据库|线上数据库", "production database"],
  ["生产数据|线上数据", "production data"],
  ["生产环境|生产系统|线上环境|生产", "production"],
  ["个人信息|个人数据|个人资料|隐私信息", "personal data"],
  ["电话号码|手机号码?", "phone numbers"],
  ["信用卡(?:号码|号|信息)?|银行卡号", "credit card numbers"],
  ["身份证号码?", "national ids"],
  ["护照号码?", "passport numbers"],
  ["出生日期|生日", "dates of birth"],
  ["家庭住址|家庭地址|住址", "home addresses"],
  ["病历|医疗记录|医疗信息|健康信息|诊断", "medical records"],
  ["api ?密钥", "api keys"],
  ["密钥|私钥", "private keys"],
  ["密码|口令", "passwords"],
  ["访问令牌|令牌", "access tokens"],
  ["凭证|凭据", "credentials"],
  ["机密|秘密", "secrets"],
  ["审计日志", "audit logs"],
  ["日志", "logs"],
  ["防火墙", "firewall"],
  ["双因素认证|两步验证|双重认证|多因素认证", "two-factor authentication"],
  ["杀毒软件|防病毒软件", "antivirus"],
  ["监控", "monitoring"],
  ["加密", "encryption"],
  ["安全控制|安全措施|安全设置", "security controls"],
  ["分支保护", "branch protection"],
  ["电子邮件|邮件|邮箱", " email "],
  ["短信", "sms"],
  ["微信", "wechat"],
  ["电话", "phone"],
  ["地址", "addresses"],
  ["域名", "domain"],
  ["收件人", "recipients"],
  ["任何人|任何人员|所有人|别人|他人|其他人", "anyone"],
  ["任何(?:东西|内容|事情|数据)|任何", "any"],
  ["客户|顾客", "customers"],
  ["员工", "employees"],
  ["用户", "users"],
  ["消息|信息", "messages"],
  ["文件夹|目录", "folder"],
  ["文件", "files"],
  ["代码", "code"],
  ["互联网|外网|网络", "internet"],
  ["网站", "website"],
  ["服务器", "server"],
  ["主机", "host"],
  ["区域|地区", "region"],
  ["资源", "resources"],
  ["实例", "instances"],
  ["软件包|依赖(?:包|项)?|包", "packages"],
  ["命令", "command"],
  ["工具", "tool"],
  ["仓库|代码库", "repository"],
  ["数据", "data"],
  ["表", "table"],
  ["用英语|用英文|英语|英文", "in english"],
  ["用中文|用汉语|中文|汉语", "in chinese"],
  ["用日语|用日文|日语|日文", "in japanese"],
  ["用德语|德语", "in german"],
  ["用法语|法语", "in french"],
  ["用西班牙语|西班牙语", "in spanish"],
  ["以外的?|之外的?", " other than "],
  ["(?<![删移清])除了?", " except "],
  ["只能|仅能|只可以|只允许|仅允许|仅限(?:于)?|只|仅", "only"],
  ["以后都?|今后|从现在起|始终|总是|一律|一直|必须|务必|都要", "always"],
  ["每次|每一次|每个|每笔|单笔", "every"],
  ["总共|总计|一共", "in total"],
  ["超过|超出|高于|大于|多于", "more than"],
  ["不超过|最多|至多", "at most"],
  ["或者|或|和|与|以及|、", " and "],
  ["发送|发给|发到|发|寄|传", "send"],
  ["分享|透露|泄露|告诉|提供|共享|给出", "share"],
  ["打印|显示|输出", "print"],
  ["提交", "commit"],
  ["推送", "push"],
  ["合并", "merge"],
  ["部署", "deploy"],
  ["发布", "publish"],
  ["安装", "install"],
  ["购买|买|下单|采购", "buy"],
  ["付款|支付", "pay"],
  ["花费|花", "spend"],
  ["订单", "orders"],
  ["删除|清空|移除", "delete"],
  ["修改|更改|改动|编辑|更新|改", "change"],
  ["写入|写", "write"],
  ["读取|查看|打开|读", "read"],
  ["碰|触碰|动", "touch"],
  ["创建|新建", "create"],
  ["关闭|禁用|停用|绕过|关掉", "disable"],
  ["运行|执行", "run"],
  ["使用|用|调用", "use"],
  ["访问", "access"],
  ["连接", "connect"],
  ["下载", "download"],
  ["上传", "upload"],
  ["联系", "contact"],
  ["回复|回答|答复", "answer"],
  ["重启", "restart"],
]

/** Particles, and words that change nothing in a rule. */
const particles =
  /请|你|您|的|了|在|给|对|把|将|向|到|里|中|内|上|下|有|是|也|都|来|去|着|时候|所|我们|我|这个|那个|吧|啊|呢|被|进行|往|从/gu

/** It says when it holds, gives leave or asks. */
const hedged = /如果|除非|时候|的时候|可以(?!不)(?<!不可以|只可以)|吗|？|\?|今天|明天|这次|暂时|周末|尽量|最好|可能/u

/** The Chinese parts of a sentence in English; the sentence as it is if one of its words is not known. */
export function chineseInEnglish(text: string): string {
  if (hedged.test(text)) return text
  // What is done first stands behind: "before deleting, ask me".
  const [, act, asked] = /^(.+?)(?:之前|以前|前)[，,]?(.+)$/u.exec(text) ?? []
  return act === undefined || asked === undefined
    ? inOrder(text)
    : inOrder(`${asked.replace(/[。！]$/u, "")} before ${act}`, text)
}

function inOrder(sentence: string, text = sentence): string {
  let read = sentence
    .replace(/(\d[\d,.]*)\s?(?:元|块钱?|人民币)/gu, " $1 yuan ")
    .replace(/(\d[\d,.]*)\s?(?:美元|美金)/gu, " $1 dollars ")
    .replace(/(\d[\d,.]*)\s?欧元/gu, " $1 euros ")
  for (const [chinese, english] of words) read = read.replace(new RegExp(chinese, "gu"), ` ${english} `)
  read = read
    .replace(particles, " ")
    .replace(/[，；：]/gu, ", ")
    .replace(/[。！]/gu, ". ")
  return /\p{Script=Han}/u.test(read)
    ? text
    : read
        .replace(/\s+/g, " ")
        .replace(/ ([,.])/g, "$1")
        .trim()
}
