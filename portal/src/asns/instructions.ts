// The instructions of a proof as what they are: sentences to be read, and lines to be copied, each by itself where one of
// them is enough. Pure; what it does not understand stays a sentence.

export type Step = {
  readonly text: string
  /** To be created to the letter; `isOneOf`: any of them is enough. */
  readonly lines: readonly string[]
  readonly isOneOf: boolean
}

/** A sentence that ends with a colon announces the lines that follow it, up to the next such sentence. */
export function stepsOf(instructions: string): readonly Step[] {
  const steps: { text: string; lines: string[]; isOneOf: boolean }[] = []
  for (const line of instructions.split('\n').filter((one) => one.trim() !== '')) {
    const last = steps.at(-1)
    if (last?.text.endsWith(':') && !line.endsWith(':')) last.lines.push(line)
    else steps.push({ text: line, lines: [], isOneOf: / one of (these|the following)\b/i.test(line) })
  }
  return steps
}
