/**
 * Parses a slash command as the server does: the whole text is the command, with a slash or a star in front, half or full
 * width. Any other text, such as a path, is a message.
 */
export function slashCommand(text: string): string | undefined {
  const [, name, agent] = /^[/／*＊](?:(menu|pause|stop|resume|dismiss|help|status)|(agent)(?:\s.*)?)$/i.exec(text.trim()) ?? [];
  return (name ?? agent)?.toLowerCase();
}
