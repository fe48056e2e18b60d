// What the inspection of an uploaded letter may say. Types only, shared by the readers of each kind of file.

/** Why a file is refused: a word for programs, and what is wrong with it for the person who sent it. */
export type Refusal = {
  readonly type: 'damaged' | 'encrypted' | 'active_content' | 'trailing_data' | 'dimensions' | 'too_complex'
  readonly msg: string
  /** What was found, by its name in the file. */
  readonly found?: readonly string[]
}

export const damaged = (why: string): Refusal => ({ type: 'damaged', msg: `cannot be read: ${why}` })
