// lab/platform.yaml with the addresses and ports of a lab that uses others.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DnsNetwork } from './dns-network.ts'
import type { Lab } from './network.ts'

/** Writes it to the folder and returns its path. */
export async function writeLabPlatform(
  folder: string,
  { lab, dns }: { readonly lab?: Lab; readonly dns?: DnsNetwork },
): Promise<string> {
  let text = await readFile(new URL('../platform.yaml', import.meta.url), 'utf8')
  const [ams, fra] = lab?.regions.map(({ apiAddress }) => apiAddress) ?? []
  if (ams && fra) text = text.replace('127.0.10.1:50051', ams).replace('127.0.20.1:50051', fra)
  const { NSD, BIND, Knot } = dns?.ports ?? {}
  for (const [fixed, own] of Object.entries({ 5301: NSD, 5302: BIND, 5303: Knot }))
    if (own !== undefined) text = text.replace(`port: ${fixed}`, `port: ${own}`)
  const file = join(folder, 'platform.yaml')
  await writeFile(file, text)
  return file
}
