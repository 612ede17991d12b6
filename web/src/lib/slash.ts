/**
 * The command that a text is, as the server reads it: nothing but a command, with a slash or a star in front as keyboards of
 * any language write them. Anything else is just words: a path, for instance.
 */
export function slashCommand(text: string): string | undefined {
  const [, name, agent] = /^[/／*＊](?:(menu|pause|stop|resume|dismiss|help|status)|(agent)(?:\s.*)?)$/i.exec(text.trim()) ?? [];
  return (name ?? agent)?.toLowerCase();
}
