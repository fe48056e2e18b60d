// The steps of ClickHouse's HTTP interface before the engine: parameters, settings and the format. chDB accepts plain
// statements only, and with its own parameters runs one query at a time in the whole process. Pure.

/** A request that cannot be executed; `code` is ClickHouse's. */
export class StatementError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const badArguments = 36
const unknownParameter = 456
const unknownSetting = 115

/** Skips texts, quoted names and comments, in which a brace is no placeholder; the last alternative is a placeholder. */
const tokens =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\*[\s\S]*?\*\/|\{\s*(\w+)\s*:\s*([^{}]+?)\s*\}/g

/** Replaces the placeholders `{name:Type}` by literals of their type. `values` are as in the URL: TSV-escaped texts. */
function bindParameters(sql: string, values: ReadonlyMap<string, string>): string {
  return sql.replace(tokens, (token: string, name: string | undefined, type: string | undefined) => {
    if (name === undefined || type === undefined) return token
    const value = values.get(name)
    if (value === undefined) throw new StatementError(unknownParameter, `Substitution ${name} is not set`)
    return literalOf(value, type)
  })
}

function literalOf(value: string, type: string): string {
  if (type === 'Identifier') {
    if (!/^[A-Za-z_]\w*$/.test(value)) throw new StatementError(badArguments, `Invalid identifier ${value}`)
    return `\`${value}\``
  }
  if (value === String.raw`\N`) return `CAST(NULL, ${quote(type)})`
  // Elements of arrays are quoted, with their own escapes, which the cast parses.
  const text = /^(Array|Tuple|Map)\(/.test(type) ? value : unescapeTsv(value)
  return `CAST(${quote(text)}, ${quote(type)})`
}

const tsvEscapes: Readonly<Record<string, string>> = { 0: '\0', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

const unescapeTsv = (text: string): string =>
  text.replace(/\\(.)/gs, (_, char: string) => tsvEscapes[char] ?? char)

/** Returns a literal of a text. Only these two characters have a meaning inside of quotes. */
const quote = (text: string): string => `'${text.replace(/['\\]/g, String.raw`\$&`)}'`

/** Returns `a = 1, b = 'x'` for the settings of a URL; undefined without settings. */
function settingsClause(settings: ReadonlyMap<string, string>): string | undefined {
  const clauses = [...settings].map(([name, value]) => {
    if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new StatementError(unknownSetting, `Unknown setting '${name}'`)
    return `${name} = ${/^-?\d{1,18}(\.\d{1,9})?$/.test(value) ? value : quote(value)}`
  })
  return clauses.length === 0 ? undefined : clauses.join(', ')
}

/** A request whose body is the data of its statement. */
const insertPattern = /^\s*(insert\s+into\s[\s\S]*?)\s+format\s+(\w+)\s*;?\s*$/i
const selectPattern = /^\s*(?:select|with|show|describe|desc|explain|exists)\b/i
const formatPattern = /\sformat\s+\w+\s*;?\s*$/i

/** The statement that inserts a file in place of the request's body. */
export function insertFromFile(
  sql: string,
  values: ReadonlyMap<string, string>,
  settings: ReadonlyMap<string, string>,
  file: string,
): string {
  const found = insertPattern.exec(sql)
  if (found === null)
    throw new StatementError(badArguments, 'A body needs a statement INSERT INTO ... FORMAT ...')
  const clause = settingsClause(settings)
  const target = bindParameters(found[1]!, values)
  return `${target} FROM INFILE ${quote(file)}${clause ? ` SETTINGS ${clause}` : ''} FORMAT ${found[2]!}`
}

/** Whether the request inserts its body. */
export const insertsBody = (sql: string): boolean => insertPattern.test(sql)

/** Whether the statement only reads, so that it may wait for other statements that read. */
export const isRead = (sql: string): boolean => selectPattern.test(sql)

/** The statement of a request without data. Settings of the URL apply to the whole statement, UNION included. */
export function plainStatement(
  sql: string,
  values: ReadonlyMap<string, string>,
  settings: ReadonlyMap<string, string>,
  defaultFormat: string,
): string {
  const bound = bindParameters(sql, values)
  const clause = settingsClause(settings)
  if (!selectPattern.test(sql)) {
    // CREATE TABLE would take them as settings of the table.
    if (clause !== undefined)
      throw new StatementError(unknownSetting, 'Settings are for SELECT and INSERT only')
    return bound
  }
  const formatted = formatPattern.test(bound)
    ? bound.replace(/;\s*$/, '')
    : `${bound.replace(/;\s*$/, '')}\nFORMAT ${defaultFormat}`
  return clause === undefined ? formatted : `${formatted} SETTINGS ${clause}`
}
