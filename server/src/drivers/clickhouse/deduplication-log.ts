// The tokens of inserted blocks in MergeTree: a file of lines `operation, part, token` in each table. The engine writes
// the line of a block before it renames the part (MergeTreeSink, 26.7). If it is killed in between, it treats the
// repeated block as a duplicate, and the table permanently lacks it. Lines of parts that do not exist are removed
// before each start.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Removes the tokens of parts that were never written, in all tables of a data directory that no engine uses. Returns their number. */
export function forgetMissingParts(dataDir: string): number {
  const store = join(dataDir, 'store')
  const logs = listFiles(store, ['', '', 'deduplication_logs', '']).filter((path) => path.endsWith('.txt'))
  return logs.reduce((removed, path) => removed + repair(path), 0)
}

function repair(path: string): number {
  const parts = namesIn(dirname(dirname(path))).flatMap((name) => parsePart(name) ?? [])
  const lines = readFileSync(path, 'utf8').split('\n')
  const kept = lines.filter((line) => {
    const [operation, name = ''] = line.split('\t')
    const part = parsePart(name)
    // A merged part contains the blocks of the former parts.
    return operation !== added || !part || parts.some((one) => contains(one, part))
  })
  if (kept.length === lines.length) return 0
  writeFileSync(`${path}.tmp`, kept.join('\n'), { mode: 0o640 })
  renameSync(`${path}.tmp`, path)
  return lines.length - kept.length
}

const added = '1'

type Part = { readonly partition: string; readonly first: number; readonly last: number }

/** `partition_first_last_level`, and the number of a mutation; temporary directories have other names. */
function parsePart(name: string): Part | undefined {
  const match = /^([0-9a-f]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name)
  return match ? { partition: match[1]!, first: Number(match[2]), last: Number(match[3]) } : undefined
}

const contains = (one: Part, { partition, first, last }: Part): boolean =>
  one.partition === partition && one.first <= first && one.last >= last

/** Paths below a directory; an empty name stands for every entry. */
function listFiles(folder: string, [name, ...rest]: readonly string[]): string[] {
  if (name === undefined) return [folder]
  const names = name === '' ? namesIn(folder) : [name]
  return names.flatMap((one) => listFiles(join(folder, one), rest))
}

/** Empty if there is no such directory. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
