// Commands that ask name servers for what the portal shows, to copy into a terminal. Pure.

/** Quotes what a shell would read as more than a word: `*`, `\`. */
const word = (text: string): string =>
  /^[\w.:@/+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

type Question = {
  readonly name: string
  readonly type: string
  /** The name or address of a name server; the resolver of the machine if missing. */
  readonly server?: string
  /** Further options, such as `+short`. */
  readonly options?: readonly string[]
}

/** Returns a command of dig; a name server is asked for what it has itself. */
export const digOf = ({ name, type, server, options = [] }: Question): string =>
  [
    'dig',
    ...(server === undefined ? [] : [word(`@${server.replace(/\.$/, '')}`), '+norecurse']),
    word(name),
    type,
    ...options,
  ].join(' ')
