// Reads a dump of a registry from a file, plain or compressed, in chunks. It must not keep parts that were read, and
// must not accept a file that is still being written.
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { createRpslSplitter, readRpslParagraph, RpslError } from '../../registry/objects/rpsl.ts'
import type { RpslParagraph } from '../../registry/objects/rpsl.ts'
import { createDumpIndexBuilder, type DumpIndex, type DumpIndexBuilder } from './dump-index.ts'

export type Dump = {
  readonly index: DumpIndex
  /** Objects that could not be parsed: their number, and the problems of the first ones. */
  readonly badObjects: number
  readonly problems: readonly string[]
}

/** Identifies a version of a file. */
export type FileState = { readonly text: string; readonly modifiedMs: number }

/** Returns undefined if the file does not exist. */
export async function fileState(file: string): Promise<FileState | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return { text: `${mtimeMs}-${size}-${ino}`, modifiedMs: mtimeMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Reads the whole file. Throws if it cannot be read or decompressed completely, is empty, does not end with a line feed, or is
 * mostly not RPSL; a dump without objects contains at least a comment.
 */
export async function readDump(file: string, sources: readonly string[], signal: AbortSignal): Promise<Dump> {
  const reading = createReading(sources)
  const bytes = createReadStream(file, { highWaterMark: 64 * 1024 })
  const consume = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of chunks) reading.push(chunk)
  }
  if (await isCompressed(file)) await pipeline(bytes, createGunzip(), consume, { signal })
  else await pipeline(bytes, consume, { signal })
  return reading.end()
}

async function isCompressed(file: string): Promise<boolean> {
  await using handle = await open(file)
  const { buffer } = await handle.read(new Uint8Array(2), 0, 2, 0)
  return buffer[0] === 0x1f && buffer[1] === 0x8b
}

const problemsMax = 20
/** Objects of other classes are counted, but not parsed. */
const isOurs = /^(?:route6?|aut-num|as-set):/im
const isRpsl = /^(?:[%#][^\n]*\n)*[a-z][a-z0-9_-]*:/i
const isComment = /^(?:[%#][^\n]*(?:\n|$))+$/

function createReading(sources: readonly string[]) {
  const builder = createDumpIndexBuilder(sources)
  const splitter = createRpslSplitter()
  const decoder = new TextDecoder()
  const problems: string[] = []
  let [objects, badObjects, nonRpsl, last] = [0, 0, 0, '']

  const visit = (paragraph: RpslParagraph): void => {
    const { text, line } = paragraph
    if (isComment.test(text)) return
    if (isRpsl.test(text)) objects++
    else nonRpsl++
    const problem = isOurs.test(text) ? addTo(builder.add, paragraph) : undefined
    if (problem === undefined) return
    badObjects++
    if (problems.length < problemsMax) problems.push(`line ${line}: ${problem}`)
  }
  const pushText = (text: string): void => {
    last = text === '' ? last : text.slice(-1)
    splitter.push(text, visit)
  }
  return {
    push: (chunk: Uint8Array): void => pushText(decoder.decode(chunk, { stream: true })),
    async end(): Promise<Dump> {
      pushText(decoder.decode())
      splitter.end(visit)
      if (last === '') throw new Error('it is empty')
      if (last !== '\n') throw new Error('its last line is incomplete: the file is not written in full')
      if (nonRpsl > objects) throw new Error('most of it is not RPSL')
      return { index: await builder.build(), badObjects, problems }
    },
  }
}

/** Adds the object. Returns its problem, or undefined. */
function addTo(add: DumpIndexBuilder['add'], paragraph: RpslParagraph): string | undefined {
  const object = readRpslParagraph(paragraph)
  if (object instanceof RpslError) return object.message
  try {
    if (object) add(object)
    return undefined
  } catch (error) {
    if (error instanceof RpslError) return error.message
    throw error
  }
}
