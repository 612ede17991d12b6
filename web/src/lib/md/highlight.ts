/** Colours of code, by a table of languages. It looks at words, strings, numbers and comments and knows no grammar. */

export type Kind = '' | 'comment' | 'word' | 'string' | 'number' | 'name' | 'added' | 'removed';
/** Text of one kind. */
export type Piece = readonly [Kind, string];

/** Longest code in characters that is coloured. */
const LONGEST = 60_000;

interface Language {
  /** Start of a comment that ends with its line. */
  line?: string;
  /** Start and end of a comment over lines. */
  block?: string;
  /** Expressions of strings. */
  strings?: string;
  words?: string;
  /** Expression of names with a meaning: keys, tags, attributes, decorators. */
  names?: string;
  ignoresCase?: boolean;
}

const [DOUBLE, SINGLE] = [String.raw`"(?:\\.|[^"\\\n])*"?`, String.raw`'(?:\\.|[^'\\\n])*'?`];
const TEMPLATE = '`(?:\\\\[^]|[^`\\\\])*`?';
const C_COMMENT = String.raw`/\*[^]*?(?:\*/|$)`;
const C_LIKE = { line: '//', block: C_COMMENT, strings: `${DOUBLE}|${SINGLE}` };
const C_WORDS = 'break case catch class const continue default do else enum extends false finally for goto if implements import interface new null package private protected public return static super switch this throw throws true try var void while';
const SCRIPT = {
  ...C_LIKE,
  strings: `${DOUBLE}|${SINGLE}|${TEMPLATE}`,
  words: `${C_WORDS} abstract any as async await boolean declare delete export from function get in infer instanceof is keyof let namespace never number of readonly satisfies set string symbol type typeof undefined unknown yield`,
};

const LANGUAGES: Record<string, Language> = {
  js: SCRIPT,
  json: { strings: DOUBLE, words: 'true false null', names: String.raw`"(?:\\.|[^"\\\n])*"(?=\s*:)`, line: '//', block: C_COMMENT },
  yaml: { line: '#', strings: `${DOUBLE}|'(?:''|[^'])*'?`, words: 'true false null yes no on off', names: String.raw`(?<=^[ \t-]{0,80})[\w./$-]+(?=:(?:\s|$))|[&*][\w-]+` },
  toml: { line: '#', strings: `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${DOUBLE}|'[^'\n]*'?`, words: 'true false', names: String.raw`(?<=^[ \t]{0,80})\[\[?[^\]\n]*\]?\]|(?<=^[ \t]{0,80})[\w."-]+(?=\s*=)` },
  ini: { line: '[#;]', strings: DOUBLE, words: 'true false yes no on off', names: String.raw`(?<=^[ \t]{0,80})\[[^\]\n]*\]|(?<=^[ \t]{0,80})[\w.-]+(?=\s*=)` },
  python: { line: '#', strings: `[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${DOUBLE}|${SINGLE})`, names: String.raw`(?<=^[ \t]{0,80})@[\w.]+|(?<=\b(?:def|class)\s)\w+`, words: 'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield' },
  rust: { ...C_LIKE, strings: String.raw`b?r?#{0,4}"(?:\\.|[^"\\])*"#{0,4}|b?'(?:\\.[^']*|[^'\\])'`, names: String.raw`#!?\[[^\]\n]*\]|\b\w+!(?!=)|(?<=\bfn\s)\w+`, words: 'as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i16 i32 i64 i8 if impl in isize let loop match mod move mut None Ok Err Some pub ref return self Self static str String struct super trait true type u16 u32 u64 u8 union unsafe use usize Vec where while' },
  go: { ...C_LIKE, strings: `${DOUBLE}|${SINGLE}|${TEMPLATE}`, words: 'bool break byte case chan const continue default defer else error fallthrough false for func go goto if import int int64 interface map nil package range return rune select string struct switch true type uint var' },
  java: { ...C_LIKE, names: String.raw`@\w+`, words: `${C_WORDS} abstract boolean byte char double final float fun int instanceof is lateinit let long native object open operator override record sealed short suspend synchronized val when` },
  c: { ...C_LIKE, names: String.raw`(?<=^[ \t]{0,80})#[ \t]*\w+`, words: `${C_WORDS} async auto await base bool byte char constexpr decimal delegate delete double explicit extern float foreach friend func guard in inline int internal is let long namespace nullptr object operator out override params readonly ref sealed short signed sizeof string struct template typedef typename union unsigned using var virtual volatile where yield` },
  ruby: { line: '#', strings: `${DOUBLE}|${SINGLE}`, names: String.raw`(?<![\w:]):\w+|@{1,2}\w+|(?<=\bdef\s)\w+`, words: 'and begin break case class def defined do else elsif end ensure false for if in module next nil not or raise redo rescue retry return self super then true undef unless until when while yield require' },
  php: { line: '(?://|#)', block: C_COMMENT, strings: `${DOUBLE}|${SINGLE}`, names: String.raw`\$\w+`, words: `${C_WORDS} abstract and array as callable clone declare echo elseif empty endfor endforeach endif endwhile fn foreach function global isset list match namespace or print readonly require trait unset use xor yield` },
  shell: { line: '#', strings: `${DOUBLE}|'[^']*'?`, names: String.raw`\$\{[^}\n]*\}|\$[\w?#@*!-]+|(?<=\s)--?[A-Za-z][\w-]*`, words: 'case do done elif else esac exit export fi for function if in local return set source then until while cd echo sudo' },
  sql: { line: '--', block: C_COMMENT, strings: "'(?:''|[^'])*'?", ignoresCase: true, words: 'add all alter and as asc between by case check column constraint create cross database default delete desc distinct drop else end exists false foreign from full group having if in index inner insert integer into is join key left like limit not null offset on or order outer primary references returning right select set table text then true union unique update values varchar view when where with' },
  html: { block: '<!--[^]*?(?:-->|$)', strings: String.raw`(?<=[\w-]\s?=\s?)(?:"[^"]*"?|'[^']*'?)`, names: String.raw`</?[A-Za-z][\w:.-]*|/?>|(?<=<[^<>]{0,200}\s)[\w:@.-]+(?=\s*=)` },
  css: { block: C_COMMENT, line: '//', strings: `${DOUBLE}|${SINGLE}`, names: String.raw`(?<=[{;\s])[\w-]+(?=\s*:[^:{]*[;}\n])|--[\w-]+|@[\w-]+|#[\da-fA-F]{3,8}\b`, words: 'important inherit initial none unset var' },
  docker: { line: '#', strings: `${DOUBLE}|${SINGLE}`, names: String.raw`\$\{?\w+\}?`, words: 'FROM AS RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL' },
};

const ALIASES: Record<string, string> = {
  javascript: 'js', jsx: 'js', mjs: 'js', cjs: 'js', ts: 'js', tsx: 'js', typescript: 'js', svelte: 'html', vue: 'html',
  json5: 'json', jsonc: 'json', jsonl: 'json', yml: 'yaml', properties: 'ini', env: 'ini', conf: 'ini', py: 'python', python3: 'python', rs: 'rust', golang: 'go',
  kotlin: 'java', kt: 'java', scala: 'java', groovy: 'java', dart: 'java', 'c++': 'c', cpp: 'c', h: 'c', hpp: 'c', cs: 'c', csharp: 'c', 'c#': 'c', swift: 'c', objc: 'c', zig: 'c',
  rb: 'ruby', bash: 'shell', sh: 'shell', zsh: 'shell', fish: 'shell', console: 'shell', powershell: 'shell', ps1: 'shell', xml: 'html', xhtml: 'html', svg: 'html',
  scss: 'css', sass: 'css', less: 'css', postgres: 'sql', mysql: 'sql', sqlite: 'sql', dockerfile: 'docker',
};

const KINDS: readonly Kind[] = ['comment', 'name', 'string', 'number', 'word'];

/** Builds the expression of a language: one group for each kind. */
function patternOf({ line, block, strings, words, names, ignoresCase }: Language): RegExp {
  const never = '(?!)';
  const comments = [block, line && `(?<![^\\s;({\\[])${line}[^\\n]*`].filter(Boolean).join('|');
  const number = String.raw`(?<![\w.])-?(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:[a-z%]{0,4}\b|%)`;
  const word = words === undefined ? never : `(?<![\\w.$-])(?:${words.replaceAll(' ', '|')})(?![\\w-])`;
  const groups = [comments || never, names ?? never, strings ?? never, number, word];
  return new RegExp(groups.map((group) => `(${group})`).join('|'), ignoresCase ? 'gim' : 'gm');
}

const patterns = new Map<string, RegExp>();

/** Colours a difference by the first letter of its lines. */
const differences = (text: string): Piece[] =>
  text.split(/(?<=\n)/).map((line): Piece => [/^(@@|diff |index |---|\+\+\+)/.test(line) ? 'comment' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : '', line]);

/** Splits code into coloured pieces; nothing for an unknown language. */
export function highlight(text: string, language: string): Piece[] | undefined {
  const lower = language.toLowerCase();
  const name = ALIASES[lower] ?? lower;
  if (text.length > LONGEST) return undefined;
  if (name === 'diff' || name === 'patch') return differences(text);
  const known = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (!known) return undefined;
  let pattern = patterns.get(name);
  if (!pattern) patterns.set(name, (pattern = patternOf(known)));
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    if (found[0] === '') continue;
    if (found.index > end) pieces.push(['', text.slice(end, found.index)]);
    pieces.push([KINDS[found.slice(1).findIndex((group) => group !== undefined)] ?? '', found[0]]);
    end = found.index + found[0].length;
  }
  if (end < text.length) pieces.push(['', text.slice(end)]);
  return pieces;
}
