/** How a file is shown, by its name. */
export type FileView = 'markdown' | 'picture' | 'pdf' | 'table' | 'text';

const VIEWS: Record<string, FileView> = {
  md: 'markdown',
  markdown: 'markdown',
  png: 'picture',
  jpg: 'picture',
  jpeg: 'picture',
  gif: 'picture',
  webp: 'picture',
  avif: 'picture',
  bmp: 'picture',
  ico: 'picture',
  svg: 'picture',
  pdf: 'pdf',
  csv: 'table',
  tsv: 'table',
};

/** Returns the view of a file. HTML is text: it is never executed. */
export const viewOf = (path: string): FileView => VIEWS[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'text';
