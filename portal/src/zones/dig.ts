// Commands that query name servers for the data of a page, to copy into a terminal. Pure.

/** Quotes characters that a shell would interpret: `*`, `\`. */
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
