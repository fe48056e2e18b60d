// The licenses of all contents of a package, in one text: licenses of npm packages are also beside their code, licenses
// of the portal's libraries are not.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { manifestOf, repository } from './release.ts'
import { bundledPackages } from './sbom.ts'

type Licensed = {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

const rule = '-'.repeat(80)

/** Returns the text for the tree in `folder`. */
export function licensesOf(folder: string): string {
  const installed = packageFolders(folder).map(licenseOf)
  const portal = bundledPackages(folder).map(({ name }) => licenseOf(join(repository, 'node_modules', name)))
  const unique = new Map([...installed, ...portal].map((one) => [`${one.name}@${one.version}`, one]))
  const sorted = [...unique].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = sorted.map(([id, { license, text }]) => `${rule}\n${id}: ${license}\n\n${text.trim()}\n`)
  return `Pharos is under the Apache License 2.0 (LICENSE). It contains these packages.\n\n${parts.join('\n')}`
}

/** Returns the folder of each installed package, nested ones included. */
export const packageFolders = (folder: string): string[] =>
  globSync('{,server/,contract/}node_modules/**/package.json', { cwd: folder })
    .map((file) => join(folder, dirname(file)))
    .filter(
      (place) => /node_modules\/(?:@[^/]+\/)?[^/]+$/.test(place) && !/node_modules\/@pharos\//.test(place),
    )

function licenseOf(folder: string): Licensed {
  const { name, version, license = 'see its files' } = manifestOf(folder)
  const file = readdirSync(folder).find((one) => /^(?:licen[cs]e|copying)/i.test(one))
  const text =
    file === undefined || !existsSync(join(folder, file)) ? '' : readFileSync(join(folder, file), 'utf8')
  return { name, version, license: typeof license === 'string' ? license : JSON.stringify(license), text }
}
