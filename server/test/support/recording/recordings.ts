// The recorded examples by their file in `contract/src`. Each file is recorded on an installation of its own.
import type { Example } from '@pharos/contract/example'
import { recordDns } from './dns.ts'
import { createRecorder, type Recorder } from './recorder.ts'

const recordings: Readonly<Record<string, (recorder: Recorder) => Promise<void>>> = {
  'dns/examples.json': recordDns,
}

/** Returns the text of each file. */
export async function recordAll(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  for (const [file, record] of Object.entries(recordings)) texts.set(file, textOf(await recorded(record)))
  return texts
}

async function recorded(
  record: (recorder: Recorder) => Promise<void>,
): Promise<Readonly<Record<string, Example>>> {
  await using recorder = await createRecorder()
  await record(recorder)
  return recorder.examples
}

/** By operation in alphabetical order, so that a new one is a new block in the diff. */
function textOf(examples: Readonly<Record<string, Example>>): string {
  const sorted = Object.entries(examples).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
}
