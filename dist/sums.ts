// The checksums of a release, and their signature. The key is never part of the repository or of a build machine's checkout: it is named.
import { createHash } from 'node:crypto'
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './program.ts'

export const SUMS = 'SHA256SUMS'

/** Writes SHA256SUMS for the named files of a folder, as `sha256sum --check` reads it. */
export async function writeSums(folder: string, names: readonly string[]): Promise<void> {
  const lines: string[] = []
  for (const name of [...names].sort()) lines.push(`${await sha256(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, SUMS), lines.join(''))
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Signs SHA256SUMS with a key of the user's gpg: `.sig` is binary, for programs, `.asc` is text. */
export function signSums(folder: string, key: string): void {
  const sums = join(folder, SUMS)
  const sign = ['--batch', '--yes', '--local-user', key, '--detach-sign']
  run('gpg', [...sign, '--output', `${sums}.sig`, sums])
  run('gpg', [...sign, '--armor', '--output', `${sums}.asc`, sums])
}
