//! What the settings mean, in Chinese.

use crewagent_engine::store::SettingKey;

use super::text;

/// Names of settings and their meaning.
#[rustfmt::skip]
const CHINESE: &[(&str, &str)] = &[
    ("run.model", "运行所用的模型，写法同 --model"),
    ("run.user-name", "步骤对你的称呼；未设置时为登录名"),
    ("run.mode", "autopilot；或 guided：每走一步之前先询问"),
    ("run.max-turns", "一次输入最多向模型请求的次数"),
    ("run.timeout", "一次输入的时间，例如 10m"),
    ("run.max-tokens", "一次输入的词元"),
    ("run.max-cost", "一次输入的费用"),
    ("run.missing-outputs", "enforce、warn 或 off：离开节点而缺少所声明的产出时怎么办"),
    ("run.outputs", "changed 或 exist：哪些文件算作节点的产出"),
    ("run.inline-step-bytes", "不超过这个大小的步骤写进提示词"),
    ("run.inline-input-bytes", "节点的输入不超过这个大小就写进提示词"),
    ("run.inline-inputs-bytes", "提示词中一个节点全部输入的大小"),
    ("run.state-tools", "auto、tool 或 document：让模型如何改变状态"),
    ("run.window-tokens", "模型窗口的大小；未设置时按已知的模型信息"),
    ("tiers.fast", "简单步骤所用的模型"),
    ("tiers.strong", "困难步骤所用的模型"),
    ("tiers.review", "评审其他模型成果的步骤所用的模型"),
    ("policy.call-seconds", "一次工具调用的时间"),
    ("policy.strict", "运行的状态是否只能用它自己的工具改变"),
    ("policy.allow", "可以调用的工具，作为 policy.ask 和 policy.deny 的例外"),
    ("policy.ask", "先询问你的工具，写成列表，例如 [\"fs.write\"] 或 [\"fs.*(@project/src)\"]"),
    ("policy.deny", "不能调用的工具，写成列表，例如 [\"fs.search\", \"mcp.*\"]"),
    ("policy.runs-later", "ask、allow 或 deny：修改其他程序以后会运行的文件，例如 Makefile"),
    ("policy.secrets", "ask、allow 或 deny：读写通常存有密钥的文件，例如 .env"),
    ("policy.fs.enabled", "是否有文件工具"),
    ("policy.fs.max-read-bytes", "一次最多读取多少"),
    ("policy.fs.max-write-bytes", "一次最多写入多少"),
    ("policy.mcp.enabled", "是否有 MCP 服务器的工具"),
    ("policy.mcp.allowed-servers", "可以使用的 MCP 服务器；未设置时为全部"),
    ("import.max-entries", "一个包的文件和文件夹个数"),
    ("import.max-unpacked-bytes", "一个包的大小"),
    ("import.max-file-bytes", "包中单个文件的大小"),
    ("import.max-ratio", "超过 1 MiB 的条目解压前后的大小之比"),
    ("models.*.model", "服务商使用的模型名称"),
    ("models.*.profile", "与服务商通信的方式"),
    ("models.*.base-url", "模型的地址"),
    ("models.*.key", "密钥在哪里：env:VARIABLE、file、keyring 或 none"),
    ("models.*.window", "窗口的大小，以词元计"),
    ("models.*.max-output", "最长的回复，以词元计"),
    ("models.*.temperature", "用词的自由程度，0 到 2"),
    ("models.*.retries", "暂时性失败之后重试的次数"),
    ("models.*.connect-timeout", "建立连接的时间"),
    ("models.*.first-byte-timeout", "等待回答开始的时间"),
    ("models.*.idle-timeout", "回答的两段之间的时间"),
    ("models.*.call-timeout", "整个回答的时间"),
    ("models.*.price.input", "发送一百万词元的美元价格"),
    ("models.*.price.output", "返回一百万词元的美元价格"),
    ("models.*.price.cached", "先前发送过的一百万词元的美元价格"),
    ("models.*.headers.*", "每次请求的请求头；env:VARIABLE 表示该变量的值"),
    ("models.*.fields.*", "每次请求的字段"),
    ("models.*.changes.*", "这个模型与服务商配置不同的字段"),
    ("profiles.*.base", "以哪个内置的服务商配置为基础"),
    ("profiles.*.*", "服务商配置的字段"),
    ("mcp.max-result-bytes", "MCP 服务器的结果不超过多大就完整交给模型"),
    ("mcp.servers.*.enabled", "运行是否可以使用这个 MCP 服务器"),
    ("mcp.servers.*.command", "作为服务器的程序"),
    ("mcp.servers.*.args", "它的参数；${NAME} 表示变量的值"),
    ("mcp.servers.*.env.*", "给它的变量；${NAME} 表示变量或已保存的密钥的值"),
    ("mcp.servers.*.cwd", "启动它的文件夹；未设置时为你的主文件夹"),
    ("mcp.servers.*.url", "HTTP 服务器的地址"),
    ("mcp.servers.*.headers.*", "每次请求的请求头；${NAME} 表示变量或已保存的密钥的值"),
    ("mcp.servers.*.startup-timeout", "等它报出所有工具的时间"),
    ("mcp.servers.*.call-timeout", "一次调用的时间，不超过 policy.call-seconds"),
    ("prices.*.input", "发送一百万词元的美元价格"),
    ("prices.*.output", "返回一百万词元的美元价格"),
    ("prices.*.cached", "先前发送过的一百万词元的美元价格"),
];

/// Returns the meaning of a setting in the current language.
pub(crate) fn meaning(key: &SettingKey) -> &'static str {
    let chinese = CHINESE.iter().find(|(name, _)| *name == key.name);
    text!(key.about, chinese.map_or(key.about, |(_, about)| *about))
}

#[cfg(test)]
mod tests {
    use crewagent_engine::store::Settings;

    use super::*;

    #[test]
    fn every_setting_is_explained_in_chinese_and_no_other() {
        let known: Vec<&str> = CHINESE.iter().map(|(name, _)| *name).collect();
        let keys: Vec<&str> = Settings::keys().iter().map(|key| key.name).collect();
        let missing: Vec<_> = keys.iter().filter(|key| !known.contains(key)).collect();
        let dead: Vec<_> = known.iter().filter(|name| !keys.contains(name)).collect();
        assert!(missing.is_empty() && dead.is_empty(), "missing {missing:?}, dead {dead:?}");
    }
}
