/**
 * Chinese sentences for those that the server makes itself. A sentence is found by its English text, in which `{}` stands for a
 * parameter; what is not here keeps the translation of its code, with the server's English below.
 */

export const sentences: Record<string, string> = {
  '/api/codes lists them all.': '全部代码见 /api/codes。',
  '/api/openapi.json lists what there is.': '全部请求见 /api/openapi.json。',
  'Choose another folder.': '请选择其他文件夹。',
  'Choose another name, or another folder for it.': '请换一个名称，或选择其他位置。',
  'Did you mean `{}`?': '你是不是要找 `{}`？',
  'Forget that project first.': '请先移除那个项目。',
  'Fork it at a node that it came to; `path` of the run lists them.': '请在运行到过的节点处分叉，运行的 `path` 中列有这些节点。',
  'Give its key in the settings.': '请在设置中填写密钥。',
  'If it was moved, say where it is now.': '如果它被移动了，请指出现在的位置。',
  'Import a newer one, or remove it.': '请导入新版本，或将其移除。',
  'Import it again, then go on.': '请重新导入，然后继续。',
  'Import it by its path on this computer, or leave bulk data out of the package.': '请改为按路径导入，或把大量数据移出包。',
  'Import it; the list shows what there is.': '请先导入；列表中是已有的包。',
  'Inspect the folder to see what is wrong with it.': '请检查该文件夹，查看其中的问题。',
  'It is: {}': '其内容为：{}',
  'It may have been forgotten; the list shows what there is.': '它可能已被移除，请查看列表。',
  'It may have been removed; the list shows what there is.': '它可能已被移除，请查看列表。',
  'Look at what has happened since, and answer what is asked now.': '请查看之后发生的事，再回答当前的问题。',
  'Name another file, or say that it is to be replaced.': '请换一个文件名，或选择替换。',
  'Name it from the root of the project, with `/` and without `..`.': '请从项目根目录写起，使用 `/`，不含 `..`。',
  'Nothing that was recorded is lost. Go on with it, and please report the bug.': '已记录的内容没有丢失。请继续，并反馈这个缺陷。',
  'Nothing was changed.': '没有改动任何内容。',
  'Nothing was changed. Look at it again, and repeat it if you still want it.': '没有改动任何内容。请查看最新内容，如仍需要再重试。',
  'Nothing was lost. Please report it.': '没有内容丢失。请反馈这个问题。',
  'Nothing works until the file is right; it is read anew at every request.': '修正该文件之前无法继续；每次请求都会重新读取它。',
  'Open http://127.0.0.1:{}/ itself.': '请直接打开 http://127.0.0.1:{}/。',
  'Open it in the folder of the project.': '请在项目文件夹中打开它。',
  'Paste JSON with an object `mcpServers`, as other tools keep it.': '请粘贴含有 `mcpServers` 对象的 JSON，格式与其他工具相同。',
  'Pause or stop it, or wait until it rests. Then fork it.': '请先暂停或停止，或等它停下，然后再分叉。',
  'Remove it from the list.': '请将其从列表中移除。',
  'Run `crewagent` in a terminal; it opens a link that lets this browser in.': '请在终端运行 `crewagent`，它会打开可进入的链接。',
  'Search again if you still want to know.': '如仍需要，请再次搜索。',
  'Send it again.': '请重新发送。',
  'Set its address in the settings.': '请在设置中填写它的地址。',
  'Start `crewagent` again.': '请重新启动 `crewagent`。',
  'Stop what is at work, wait a few seconds, and remove the package then.': '请先停止正在进行的运行，等几秒后再移除包。',
  'Wait until it rests, or stop it first.': '请等它停下，或先将其停止。',
  'Wait until some of them rest.': '请等其中一些停下。',
  'Wait until that is done.': '请等它完成。',
  'What was said is kept. Set up a model, then go on.': '你的消息已保留。请设置模型，然后继续。',
  '`{}` is larger than 64 MiB': '`{}` 超过 64 MiB。',
  '`{}` is not `run/<id>` or `conversation/<id>`': '`{}` 不是 `run/<id>` 或 `conversation/<id>`。',
  '`{}` is not a SHA-256': '`{}` 不是 SHA-256。',
  '`{}` is not a path in the project': '`{}` 不是项目中的路径。',
  '`{}` is there twice': '`{}` 出现了两次。',
  '`{}` needs a value': '`{}` 需要一个值。',
  'a new model needs an address, or a provider that is known': '新模型需要地址，或已知的服务商。',
  'a new model needs the name that its provider gives it': '新模型需要服务商使用的名称。',
  'a stream follows at most {} journals': '一个事件流最多跟随 {} 份记录。',
  'a title has at least one letter': '标题不能为空。',
  'an agent is one of a package': '智能体必须属于某个包。',
  'another search has taken the place of this one': '这次搜索已被另一次取代。',
  'no server can be taken over: {}': '没有可导入的服务器：{}',
  'run {} is at work': '运行 {} 正在进行。',
  'such a name makes no valid package': '这个名称不能用于包。',
  'the Host of the request is not this server': '请求的主机名不是本服务。',
  'the MCP server `{}` is being tried out already': '正在测试 MCP 服务器 `{}`。',
  'the body did not come in time': '请求的内容未能及时送达。',
  'the body does not fit: {}': '请求的内容不符合要求：{}',
  'the body is cut off, or longer than {} bytes': '请求的内容不完整，或超过 {} 字节。',
  'the body must be `application/json`': '请求的内容必须是 `application/json`。',
  'the body must be `{}`': '请求的内容必须是 `{}`。',
  'the file cannot be kept for the check: {}': '无法保存待检查的文件：{}',
  'the file did not come whole': '文件没有完整送达。',
  'the file is larger than {} MiB': '文件超过 {} MiB。',
  'the folder `{}` cannot be made: {}': '无法创建文件夹 `{}`：{}',
  'the folder `{}` cannot be read: {}': '无法读取文件夹 `{}`：{}',
  'the folder that a server is started in is a whole path': '服务器的启动文件夹必须是完整路径。',
  'the name of a project has 1 to {} characters': '项目名称应有 1 到 {} 个字符。',
  'the path must begin at the root of the disk': '路径必须从磁盘根目录写起。',
  'the request comes from another page': '请求来自其他页面。',
  'the request failed inside the program, which is a bug': '请求因程序缺陷而失败。',
  'the sample cannot be written: {}': '无法写入示例：{}',
  'the secret of the store is missing or wrong': '存储的密钥缺失或不正确。',
  'there is no agent `{}`': '没有智能体 `{}`。',
  'there is no code `{}`': '没有代码 `{}`。',
  'there is no model `{}`': '没有模型 `{}`。',
  'there is no request with this number': '没有这个编号的请求。',
  'there is no setting `{}`': '没有设置项 `{}`。',
  'there is no such file': '没有这个文件。',
  'there is no such request': '没有这种请求。',
  'there is no such text': '没有这段文字。',
  'there is no such workflow': '没有这个流程。',
  'this address does not take this method': '这个地址不支持这种请求方式。',
  'this browser was not let in': '此浏览器尚未获得访问授权。',
  'this is not a digest': '这不是摘要值。',
  'this model answers from a file; there is no way to try': '这个模型按文件作答，无法测试连接。',
  'this version of the program finds errors in it': '当前版本的程序发现其中有错误。',
  // Sentences of the engine that the page shows most.
  'there is no run `{}`': '没有运行 `{}`。',
  'there is no conversation `{}`': '没有对话 `{}`。',
  'there is no project `{}`': '没有项目 `{}`。',
  'there is no package `{}`': '没有包 `{}`。',
  'the package {} ({}) of run {} is not in the store': '运行 {2} 所用的包 {0}（{1}）不在库中。',
  'the package {} ({}) of run {} is not in the store; import it again with `crewagent package import`': '运行 {2} 所用的包 {0}（{1}）不在库中，请重新导入。',
  'the folder `{}` of project `{}` is gone': '项目 `{1}` 的文件夹 `{0}` 已不在原处。',
  'the package is in use by {}': '包正被 {} 使用。',
  'the package is in use by {} and {} more': '包正被 {} 等使用（另有 {} 个）。',
  '{} is in use by {}': '{} 正被 {} 使用。',
  'it is at work': '它正在运行。',
};

const rules = Object.entries(sentences).map(([english, chinese]): [RegExp, string] => {
  const pattern = english.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\\\{\\\}/g, '(.+?)');
  return [new RegExp(`^${pattern}$`, 's'), chinese];
});

/** Returns the Chinese sentence for an English one, with its parameters. */
export function sentence(english: string): string | undefined {
  for (const [pattern, chinese] of rules) {
    const found = pattern.exec(english);
    if (!found) continue;
    let next = 0;
    return chinese.replace(/\{(\d?)\}/g, (_, at: string) => found[1 + (at === '' ? next++ : Number(at))] ?? '');
  }
  return undefined;
}
