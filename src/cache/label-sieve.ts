/** Finds a label selector that matches the objects of interest and few others. */

type Labels = Readonly<Record<string, string>>;

/** A requirement that all objects of interest meet. */
interface Requirement {
  readonly text: string;
  readonly isMet: (labels: Labels) => boolean;
}

const NONE: Labels = Object.freeze({});
/** How many other objects are sampled. */
const MOST_SAMPLES = 256;
/** More requirements hardly narrow the selector further. */
const MOST_REQUIREMENTS = 4;

export class LabelSieve {
  /**
   * Labels that all objects of interest have, with the value where it is the same; `undefined` before the first object.
   */
  #common: Map<string, string | undefined> | undefined;
  /** Names of labels that at least one object of interest has. */
  readonly #names = new Set<string>();
  readonly #samples: Labels[] = [];
  #others = 0;
  #random = 1;

  /** Takes note of an object of interest. */
  wanted(labels: Labels = NONE): void {
    for (const name in labels) this.#names.add(name);
    if (this.#common === undefined) this.#common = new Map(Object.entries(labels));
    for (const [name, value] of this.#common) {
      if (!Object.hasOwn(labels, name)) this.#common.delete(name);
      else if (value !== undefined && labels[name] !== value) this.#common.set(name, undefined);
    }
  }

  /** Takes note of any other object. Reservoir sampling: each is as likely to be a sample as any other. */
  other(object: { readonly labels?: Labels | undefined }): void {
    const place = this.#others++ < MOST_SAMPLES ? this.#samples.length : this.#draw(this.#others);
    if (place < MOST_SAMPLES) this.#samples[place] = object.labels ?? NONE;
  }

  /** A selector that all objects of interest match, and an estimate of how many others do. */
  best(): { readonly selector: string; readonly others: number } {
    const requirements = this.#requirements();
    const texts: string[] = [];
    let rest: readonly Labels[] = this.#samples;
    while (texts.length < MOST_REQUIREMENTS && rest.length > 0) {
      let best = rest;
      let text = "";
      for (const requirement of requirements) {
        const matches = rest.filter(requirement.isMet);
        if (matches.length >= best.length) continue;
        best = matches;
        ({ text } = requirement);
      }
      if (text === "") break;
      texts.push(text);
      rest = best;
    }
    const others = this.#samples.length === 0 ? 0 : Math.ceil((this.#others * rest.length) / this.#samples.length);
    return { selector: texts.join(","), others };
  }

  /** Park and Miller's generator: the requests of a process do not depend on chance. */
  #draw(below: number): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647;
    return this.#random % below;
  }

  #requirements(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    for (const [name, value] of this.#common ?? []) {
      const isMet = (labels: Labels): boolean =>
        Object.hasOwn(labels, name) && (value === undefined || labels[name] === value);
      requirements.push({ text: value === undefined ? name : `${name}=${value}`, isMet });
    }
    const absent = new Set(this.#samples.flatMap((labels) => Object.keys(labels)));
    for (const name of absent) {
      if (!this.#names.has(name))
        requirements.push({ text: `!${name}`, isMet: (labels) => !Object.hasOwn(labels, name) });
    }
    return requirements;
  }
}
