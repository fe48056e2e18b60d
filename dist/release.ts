// The release: its version, and the time that all files of it get, so that a commit always gives the same bytes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture } from './program.ts'

export const repository = fileURLToPath(new URL('..', import.meta.url))

/** As Node.js names processors. */
export type Arch = 'x64' | 'arm64'

export const debianArch: Readonly<Record<Arch, string>> = { x64: 'amd64', arm64: 'arm64' }

export type Release = {
  /** Such as `0.2.0-rc.1`. */
  readonly version: string
  readonly commit: string
  /** Time of the commit, in seconds since 1970. */
  readonly time: number
}

export function readRelease(): Release {
  const [commit = '', time = ''] = capture('git', ['log', '-1', '--format=%H %ct']).trim().split(' ')
  return { version: manifestOf(repository).version, commit, time: Number(time) }
}

/** Returns the version as Debian orders it: `0.2.0~rc.1` is before `0.2.0`. */
export const debianVersion = ({ version }: Release): string => version.replace('-', '~')

export const isoTime = ({ time }: Release): string => new Date(time * 1000).toISOString()

export type Manifest = {
  name: string
  version: string
  license?: string
  bin?: Record<string, string>
  overrides?: Record<string, unknown>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** Returns the package.json of a folder. */
export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
