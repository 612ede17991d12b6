import { flushSync, mount, unmount } from 'svelte';
import { beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { Fault as Problem, Reason } from '../../src/lib/api/types';
import type { en } from '../../src/lib/i18n/en';
import { faults } from '../../src/lib/i18n/faults/zh';
import { sentence, sentences } from '../../src/lib/i18n/faults/sentences';
import { setLanguage, translate } from '../../src/lib/i18n/index.svelte';
import Fault from '../../src/ui/Fault.svelte';

/** Sources of the server, found by what they contain, because they move. */
const files = import.meta.glob<string>(['../../../crates/{adapters,engine,server}/src/**/*.rs', '../../../crates/format/src/**/code.rs'], { query: '?raw', import: 'default', eager: true });
const sourceWith = (marker: RegExp): string => Object.values(files).filter((source) => marker.test(source)).join('\n');

const known = Object.keys(faults);
const of = (topic: string): string[] => known.filter((key) => key.startsWith(`${topic}.`)).sort();
const groups = (text: string, pattern: RegExp): string[][] => [...text.matchAll(pattern)].map((found) => found.slice(1));

/** Finds every use of `what(name, …)` in sources; the name may be the constant `NAME` above it. */
function namesIn(source: string, pattern: RegExp): string[][] {
  let name = '';
  return groups(source, pattern).flatMap(([constant, ...rest]) => {
    if (constant !== undefined) name = constant;
    return constant === undefined ? [rest.map((part) => (part === 'NAME' ? name : part.replaceAll('"', '')))] : [];
  });
}

describe('the codes of the server', () => {
  it('have words: every finding', () => {
    const codes = groups(sourceWith(/^ {4}\d{3} \w+ "/m), /^ {4}(\d{3}) \w+ "/gm).map(([number]) => `finding.BM${number}`);
    expect(codes.length).toBeGreaterThan(80);
    expect(of('finding')).toEqual(codes.sort());
  });

  it('have words: every look of the doctor', () => {
    const checks = namesIn(sourceWith(/Check::ok\(/), /const NAME: &str = "(\w+)"|Check::(ok|warn|fail)\(\s*(NAME|"\w+")/g).map(([status, name]) => `doctor.${name}.${status}`);
    // The version is a number and needs no translation.
    const wanted = new Set(checks.filter((check) => check !== 'doctor.version.ok'));
    expect(wanted.size).toBeGreaterThan(10);
    expect(of('doctor')).toEqual([...wanted].sort());
  });

  it('have words: every step on the way to a model and to a server', () => {
    const steps = groups(sourceWith(/Self::\w+ => "(endpoint|handshake)"/), /^ +Self::\w+ => "(\w+)",$/gm).map(([name]) => name);
    expect(steps).toHaveLength(13);
    const wanted = steps.flatMap((name) => [`step.${name}.ok`, `step.${name}.failed`]);
    expect(of('step')).toEqual([...wanted, 'step.skipped'].sort());
  });

  it('have words: everything that is measured', () => {
    const measured = namesIn(sourceWith(/self\.found\(NAME/), /const NAME: &str = "([\w ]+)"|self\.found\((NAME|"[\w ]+"), (None|Some\(\w+\))/g).flatMap(([name, found]) => {
      const results = found === 'None' ? ['unknown'] : /true|false/.exec(found ?? '') ?? ['true', 'false'];
      return results.map((result) => `probe.${name}.${result}`);
    });
    expect(measured.length).toBeGreaterThan(20);
    expect(of('probe')).toEqual([...new Set(measured)].sort());
  });

  it('have words: every sentence that the server makes itself, with its parameters', () => {
    const own = Object.entries(files).filter(([path]) => path.includes('/server/')).map(([, source]) => source.split('#[cfg(test)]')[0]);
    const made = groups(own.join('\n'), /(?:\.hint\(|Problem::new\(\s*[\w:]+,|Problem::(?:invalid|missing)\()\s*(?:format!\(\s*)?"((?:[^"\\]|\\.)*)"/g).map(([text]) => text?.replace(/\{[^}]*\}/g, '{}'));
    expect(made.length).toBeGreaterThan(60);
    expect(made.filter((text) => text !== undefined && !(text in sentences))).toEqual([]);
    for (const [english, chinese] of Object.entries(sentences)) expect(chinese.match(/\{\d?\}/g)?.length ?? 0, english).toBe(english.match(/\{\}/g)?.length ?? 0);
    expect(sentence('the folder `/a` cannot be read: no')).toBe('无法读取文件夹 `/a`：no');
    expect(sentence('the package tiny@1.0.0 (12ab) of run r1 is not in the store')).toBe('运行 r1 所用的包 tiny@1.0.0（12ab）不在库中。');
    expect(sentence('something else')).toBeUndefined();
  });

  it('have words: every reason of a run, among those of the page', () => {
    expectTypeOf<`reason.${Reason}`>().toExtend<keyof typeof en>();
  });

  it('are told in whole sentences', () => {
    for (const text of Object.values(faults)) expect(text).toMatch(/\p{Script=Han}.*。$/u);
  });
});

describe('a fault', () => {
  const BUSY: Problem = { code: 'busy', message: 'the run `r1` is at work', hint: 'Stop it first.' };

  function render(fault: Problem): HTMLElement {
    const target = document.createElement('div');
    const part = mount(Fault, { target, props: { fault } });
    flushSync();
    const copy = target.cloneNode(true) as HTMLElement;
    void unmount(part);
    return copy;
  }
  const english = (page: HTMLElement): (string | null)[] => [...page.querySelectorAll('[lang=en]')].map((part) => part.textContent);

  describe('in English', () => {
    beforeEach(() => setLanguage('en'));

    it('is told by the server alone, also after Chinese was spoken', async () => {
      await setLanguage('zh');
      await vi.waitFor(() => expect(translate('fault.busy')).toBeDefined());
      await setLanguage('en');
      expect(translate('fault.busy')).toBeUndefined();
      expect(translate('reason.model')).toBeUndefined();
      expect(render(BUSY).textContent?.trim()).toBe('The run r1 is at work Stop it first.');
      expect(english(render(BUSY))).toEqual([]);
    });
  });

  describe('in Chinese', () => {
    beforeEach(async () => {
      await setLanguage('zh');
      await vi.waitFor(() => expect(translate('fault.busy')).toBeDefined());
    });

    it('is told in Chinese, with the words of the server below', () => {
      const page = render(BUSY);
      expect(page.querySelector('strong')?.textContent).toMatch(/^正在运行中/);
      expect(english(page)).toEqual(['The run r1 is at work', 'Stop it first.']);
    });

    it('whose sentence is known is told in Chinese alone', async () => {
      const fault: Problem = { code: 'not-found', message: 'there is no model `m1`', hint: 'Send it again.' };
      await vi.waitFor(() => expect(render(fault).textContent?.trim()).toBe('没有模型 m1。 请重新发送。'));
      expect(english(render(fault))).toEqual([]);
    });

    it('of a kind that a later server has is told by the server alone', () => {
      const page = render({ ...BUSY, code: 'later' as Problem['code'] });
      expect(page.querySelector('strong')?.textContent).toBe('The run r1 is at work');
    });

    it('that the page found itself is told once', () => {
      const page = render({ code: 'page', message: '文件过大。', hint: '请换一个。' });
      expect(page.textContent?.trim()).toBe('文件过大。 请换一个。');
      expect(english(page)).toEqual([]);
    });

    it('of a run has the words of its reason', () => {
      expect(translate('reason.limit-turns')).toContain('轮数上限');
      expect(translate('reason.undefined')).toBeUndefined();
    });
  });
});
