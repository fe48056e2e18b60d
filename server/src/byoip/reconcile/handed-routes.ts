// The routes of one router as the reconciler hands them over to `pharos agent`: a file with its hash. The agent runs beside the daemon and
// has neither the database nor a key, so the hash proves that the file is whole, and its transport who wrote it.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parsePrefix } from '../../net/prefix.ts'
import type { Route } from './speaker.ts'

/** The end of a black hole; ISO 8601. */
export type HandedBlackhole = { readonly route: Route; readonly until: string }

export type HandedRoutes = {
  readonly format: 1
  readonly region: string
  readonly router: string
  /** When a run last read them; ISO 8601. */
  readonly at: string
  readonly routes: readonly Route[]
  readonly blackholes: readonly HandedBlackhole[]
}

/** The file of a router in the folder of the reconciler. */
export const handedFile = (folder: string, region: string, router: string): string =>
  join(folder, `${region}.${router}.routes`)

/** Writes the file in one step: a reader gets the old one or the new one. */
export function writeHanded(file: string, handed: HandedRoutes): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o750 })
  const body = JSON.stringify(handed)
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, `sha256 ${hashOf(body)}\n${body}\n`, { mode: 0o640 })
  renameSync(aside, file)
}

/** Throws an Error if the file cannot be read, is not whole, or has a prefix that is not valid. */
export function readHanded(file: string): HandedRoutes {
  const [head = '', body = ''] = readFileSync(file, 'utf8').split('\n')
  if (head !== `sha256 ${hashOf(body)}`) throw new Error('the hash is not that of the content')
  const handed = JSON.parse(body) as HandedRoutes
  if (handed.format !== 1) throw new Error('the format is not known')
  for (const { prefix } of [...handed.routes, ...handed.blackholes.map(({ route }) => route)])
    parsePrefix(prefix)
  return handed
}

const hashOf = (body: string): string => createHash('sha256').update(body).digest('hex')
