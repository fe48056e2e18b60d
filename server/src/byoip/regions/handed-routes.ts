// The routes of one router as the reconciler hands them over to `pharos agent`: a file with a signature (Ed25519, RFC 8032). The agent has the
// public key only: no router has a secret, and whoever copies the file can neither change it nor replace it by an older one.
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parsePrefix } from '../../net/prefix.ts'
import { replaceFile } from '../../runtime/files.ts'
import { deriveKeys, type KeyRing } from '../../runtime/secrets.ts'
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

/** The files of one reconciler. */
export type HandedFiles = { save(handed: HandedRoutes): Promise<void> }

/** The file of a router in the folder of the reconciler. */
export const handedFile = (folder: string, region: string, router: string): string =>
  join(folder, `${region}.${router}.routes`)

/** Files in `folder`, signed with the newest key of the ring. */
export function createHandedFiles(folder: string, ring: KeyRing): HandedFiles {
  const [key] = privateKeys(ring)
  return {
    save(handed) {
      const body = JSON.stringify(handed)
      const head = `ed25519 ${sign(null, Buffer.from(body), key!).toString('base64')}`
      const file = handedFile(folder, handed.region, handed.router)
      return replaceFile(file, `${head}\n${body}\n`, { mode: 0o640, folderMode: 0o750 })
    },
  }
}

/** Returns the public keys of the agents, base64, newest first: one per key of the ring. */
export const agentKeys = (ring: KeyRing): string[] =>
  privateKeys(ring).map((key) =>
    createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-keyBytes).toString('base64'),
  )

/** Throws an Error if the text is not a public key that `agentKeys` returns. */
export function parseAgentKey(text: string): KeyObject {
  const raw = Buffer.from(text, 'base64')
  if (raw.length !== keyBytes || raw.toString('base64') !== text)
    throw new Error('it must be a key that `pharos secrets agent-key` shows')
  return createPublicKey({ key: Buffer.concat([spkiHead, raw]), format: 'der', type: 'spki' })
}

type ReaderOptions = {
  /** The file as it was copied here, under the name that the reconciler gave it. */
  readonly file: string
  /** Folder of the agent alone: it keeps the newest file that was valid, over restarts. */
  readonly stateDir: string
  readonly keys: readonly KeyObject[]
  readonly now: () => Date
}

export type HandedReading = {
  /** The newest that was valid. */
  readonly handed: HandedRoutes | undefined
  /** Why the file is not used, or not kept. */
  readonly problem: string | undefined
}

/** Clocks of the reconciler and of the router may differ by this. */
const clockMsMax = 600_000

/**
 * Returns a function that reads the file. A file is ignored if it has another signature, is of another router, or is
 * older than the newest valid file; also if it is from the future, because all later ones would count as old.
 */
export function createHandedReader({ file, stateDir, keys, now }: ReaderOptions): () => HandedReading {
  const name = basename(file)
  const seen = join(stateDir, `${name}.seen`)
  let last: { readonly text: string; readonly handed: HandedRoutes } | undefined
  let isSeenRead = false

  const readSeen = () => {
    isSeenRead = true
    const text = readIfExists(seen)
    if (text !== undefined) last = { text, handed: parseHanded(text, name, keys) }
  }
  const readNext = () => {
    if (!isSeenRead) readSeen()
    const text = readFileSync(file, 'utf8')
    if (text === last?.text) return
    const handed = parseHanded(text, name, keys)
    if (last && Date.parse(handed.at) < Date.parse(last.handed.at))
      throw new Error(`the file of ${handed.at} is older than that of ${last.handed.at}`)
    if (Date.parse(handed.at) > now().getTime() + clockMsMax)
      throw new Error(`the file is of ${handed.at}: one of both clocks is wrong`)
    last = { text, handed }
    keep(seen, text)
  }

  return () => {
    try {
      readNext()
      return { handed: last?.handed, problem: undefined }
    } catch (error) {
      return { handed: last?.handed, problem: (error as Error).message }
    }
  }
}

/** Throws an Error if no key has signed the text, or if it is not of this file. */
function parseHanded(text: string, name: string, keys: readonly KeyObject[]): HandedRoutes {
  const [head = '', body = ''] = text.split('\n')
  const signature = Buffer.from(/^ed25519 (\S+)$/.exec(head)?.[1] ?? '', 'base64')
  if (!keys.some((key) => verify(null, Buffer.from(body), key, signature)))
    throw new Error('no key has signed the content')
  const handed = JSON.parse(body) as HandedRoutes
  if (handed.format !== 1) throw new Error('the format is not known')
  if (handedFile('', handed.region, handed.router) !== name)
    throw new Error(`it is the file of router ${handed.router} of region ${handed.region}`)
  for (const { prefix } of [...handed.routes, ...handed.blackholes.map(({ route }) => route)])
    parsePrefix(prefix)
  return handed
}

/** Heads of keys of Ed25519 in DER (RFC 8410): the key itself follows. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')
const keyBytes = 32

const privateKeys = (ring: KeyRing): KeyObject[] =>
  deriveKeys(ring, 'agent-routes').map(({ key }) =>
    createPrivateKey({ key: Buffer.concat([pkcs8Head, key]), format: 'der', type: 'pkcs8' }),
  )

/** Synchronous: the agent has no other work, and uses a file only after it has stored it. */
function keep(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o750 })
  const aside = `${file}.${process.pid}`
  writeFileSync(aside, text, { mode: 0o640 })
  renameSync(aside, file)
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
