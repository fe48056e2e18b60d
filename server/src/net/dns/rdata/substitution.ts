// The substitution expression of NAPTR (RFC 3402 section 3.2): `!<expression>!<replacement>!<flags>`, where the
// expression is a POSIX extended one. Accepts a subset of BIND's syntax: BIND refuses a whole zone with any other
// expression at transfer.

const backslash = 92
const isDigit = (octet: number | undefined): boolean => octet !== undefined && octet >= 48 && octet <= 57
const code = (character: string): number => character.charCodeAt(0)

/**
 * Returns the error of the expression and its remedy; undefined if it is valid. An empty field is valid: the rule has a
 * replacement instead.
 */
export function findSubstitutionError(octets: Uint8Array): string | undefined {
  if (octets.length === 0) return undefined
  const [delimiter] = octets
  if (isDigit(delimiter) || delimiter === backslash || delimiter === code('i'))
    return 'begins with a digit, a backslash or i, which cannot separate its parts. Use the form !expression!replacement!.'
  if (octets.includes(0)) return 'contains a zero octet. Remove it.'
  const parts = splitParts(octets.subarray(1), delimiter!)
  if (parts?.length !== 3)
    return 'does not have three separators. Use the form !expression!replacement!, and write a separator within a part as \\\\!.'
  const [expression, replacement, flags] = parts as [Uint8Array, Uint8Array, Uint8Array]
  if (!flags.every((octet) => octet === code('i')))
    return 'has an unknown flag after the last separator. Only i is defined.'
  const parser = new ExpressionParser(expression)
  const error = parser.run()
  if (error !== undefined) return error
  const highest = highestReference(replacement)
  if (highest === 0) return 'refers to \\\\0, which does not exist. Number the groups from \\\\1.'
  if (highest !== undefined && highest > parser.groups)
    return `refers to \\\\${highest}, but has ${parser.groups} groups in parentheses. Add the parentheses, or change the reference.`
  return undefined
}

/** Splits at the separator; a backslash keeps the octet after it. Undefined if the last octet is a backslash without one. */
function splitParts(octets: Uint8Array, delimiter: number): Uint8Array[] | undefined {
  const parts: Uint8Array[] = []
  let start = 0
  for (let at = 0; at < octets.length; at++) {
    // Flags have no escapes.
    if (octets[at] === backslash && parts.length < 2) {
      if (++at >= octets.length) return undefined
    } else if (octets[at] === delimiter) {
      parts.push(octets.subarray(start, at))
      start = at + 1
    }
  }
  return [...parts, octets.subarray(start)]
}

/** Returns 0 if the replacement refers to \0, otherwise the highest reference. */
function highestReference(replacement: Uint8Array): number | undefined {
  let highest: number | undefined
  for (let at = 0; at < replacement.length; at++) {
    if (replacement[at] !== backslash) continue
    const octet = replacement[++at]!
    if (!isDigit(octet)) continue
    if (octet === 48) return 0
    highest = Math.max(highest ?? 0, octet - 48)
  }
  return highest
}

/** Found by the parser; the text is public. */
class ExpressionError extends Error {}

/** The largest number of repetitions that regular expressions must support (RE_DUP_MAX of POSIX). */
const repetitionsMax = 255
const classes = new Set('alnum digit punct alpha graph space blank lower upper cntrl print xdigit'.split(' '))

/** Parses a POSIX extended regular expression, and counts its groups. */
class ExpressionParser {
  readonly #octets: Uint8Array
  #at = 0
  groups = 0

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  run(): string | undefined {
    try {
      this.#alternatives()
      if (this.#at < this.#octets.length) throw new ExpressionError('closes a group that is not open')
      return undefined
    } catch (error) {
      if (error instanceof ExpressionError)
        return `${error.message}. Write an extended regular expression (RFC 3402).`
      throw error
    }
  }

  get #next(): number | undefined {
    return this.#octets[this.#at]
  }

  #skip(character: string): boolean {
    if (this.#next !== code(character)) return false
    this.#at++
    return true
  }

  #alternatives(): void {
    do this.#branch()
    while (this.#skip('|'))
  }

  #branch(): void {
    let isEmpty = true
    for (let next = this.#next; next !== undefined; next = this.#next) {
      if (next === code('|') || next === code(')')) break
      const isAnchor = next === code('^') || next === code('$')
      this.#atom(next)
      isEmpty = false
      if (this.#repetition() && isAnchor) throw new ExpressionError('repeats the start or the end')
      if (this.#repetition()) throw new ExpressionError('repeats a repetition')
    }
    if (isEmpty) throw new ExpressionError('has an empty expression, group or alternative')
  }

  #atom(first: number): void {
    this.#at++
    if (first === code('(')) {
      this.groups++
      this.#alternatives()
      if (!this.#skip(')')) throw new ExpressionError('has a group that is not closed')
    } else if (first === code('[')) this.#bracket()
    else if (first === backslash) {
      const escaped = this.#octets[this.#at++]
      if (escaped === undefined) throw new ExpressionError('ends with a backslash')
      if (isDigit(escaped) && escaped - 48 > this.groups)
        throw new ExpressionError('refers to a group that is not before it')
    } else if (
      first === code('*') ||
      first === code('+') ||
      first === code('?') ||
      (first === code('{') && isDigit(this.#next))
    )
      throw new ExpressionError('repeats nothing')
  }

  /** Reads `*`, `+`, `?` or `{low,high}`; returns whether it found one. */
  #repetition(): boolean {
    if (this.#skip('*') || this.#skip('+') || this.#skip('?')) return true
    if (this.#next !== code('{') || !isDigit(this.#octets[this.#at + 1])) return false
    this.#at++
    const low = this.#number()
    const high = this.#skip(',') ? (isDigit(this.#next) ? this.#number() : repetitionsMax) : low
    if (!this.#skip('}') || low > high || high > repetitionsMax)
      throw new ExpressionError('has a malformed number of repetitions')
    return true
  }

  #number(): number {
    let value = 0
    while (isDigit(this.#next) && value <= repetitionsMax) value = value * 10 + this.#octets[this.#at++]! - 48
    return value
  }

  /** A list in brackets, with ranges and `[:class:]`. */
  #bracket(): void {
    this.#skip('^')
    let isFirst = true
    for (;;) {
      if (!isFirst && this.#skip(']')) return
      isFirst = false
      if (this.#class()) continue
      const low = this.#element()
      const isRange = this.#next === code('-') && this.#octets[this.#at + 1] !== code(']')
      if (!isRange) continue
      this.#at++
      if (this.#element() < low)
        throw new ExpressionError('has a range in brackets that ends before it starts')
      if (this.#next === code('-')) throw new ExpressionError('has a hyphen right after a range in brackets')
    }
  }

  #element(): number {
    const octet = this.#octets[this.#at++]
    if (octet === undefined) throw new ExpressionError('has a bracket that is not closed')
    if (octet === code('[')) throw new ExpressionError('has an opening bracket within brackets')
    return octet
  }

  #class(): boolean {
    if (this.#next !== code('[') || this.#octets[this.#at + 1] !== code(':')) return false
    const text = Buffer.from(this.#octets.subarray(this.#at)).toString('latin1')
    const name = /^\[:([a-z]+):\]/.exec(text)?.[1]
    if (name === undefined || !classes.has(name))
      throw new ExpressionError('has an unknown class of characters')
    this.#at += name.length + 4
    return true
  }
}
