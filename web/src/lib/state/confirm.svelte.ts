/** Question before something that cannot be undone. One dialog of the page asks it. */

export interface Question {
  title: string;
  /** Consequences of a yes. */
  text: string;
  /** Label of the button that says yes. */
  action: string;
}

let asked = $state.raw<(Question & { answer: (yes: boolean) => void }) | null>(null);

/** Returns the question that waits for its answer. */
export const question = (): typeof asked => asked;

/** Asks the user. A question that still waits is answered with no. */
export function confirmed(one: Question): Promise<boolean> {
  asked?.answer(false);
  return new Promise((done) => {
    const answer = (yes: boolean): void => {
      if (asked?.answer === answer) asked = null;
      done(yes);
    };
    asked = { ...one, answer };
  });
}
