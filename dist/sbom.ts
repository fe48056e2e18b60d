// The bill of materials (CycloneDX 1.5): npm's list, and the libraries that are built into the portal. Its time and its
// serial number come from the release, so that it is the same in every build.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { capture } from './program.ts'
import { isoTime, type Release } from './release.ts'

export type Component = {
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
  readonly [more: string]: unknown
}

export type Sbom = {
  serialNumber: string
  metadata: { timestamp: string; tools?: unknown; [more: string]: unknown }
  components: Component[]
  [more: string]: unknown
}

export type BundledPackage = { readonly name: string; readonly version: string; readonly license: string }

/** Returns the packages of which the built portal in `folder` contains code. */
export const bundledPackages = (folder: string): BundledPackage[] =>
  JSON.parse(readFileSync(join(folder, 'portal/dist/packages.json'), 'utf8')) as BundledPackage[]

/** Returns the bill of the tree in `folder`, of its lockfile: that has the digests, which node_modules does not. */
export function sbomOf(folder: string, release: Release): Sbom {
  const options = ['--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only']
  const listed = capture('npm', ['sbom', ...options], { cwd: folder })
  const sbom = JSON.parse(listed) as Sbom
  return reproducible(
    { ...sbom, components: [...sbom.components.map(named), ...bundledPackages(folder).map(bundled)] },
    release,
  )
}

/** A component with the name of its package, as its purl has it: some versions of npm give the name of its folder. */
function named(component: Component): Component {
  const name = decodeURIComponent(/^pkg:npm\/(.+)@/.exec(component.purl ?? '')?.[1] ?? component.name)
  return { ...component, name }
}

function bundled({ name, version, license }: BundledPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const properties = [{ name: 'pharos:part', value: 'portal' }]
  return {
    'bom-ref': `portal:${name}@${version}`,
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
    properties,
  }
}

/** Returns a bill that was written before. */
export const sbomOfFile = (file: string): Sbom => JSON.parse(readFileSync(file, 'utf8')) as Sbom

/** Returns a bill of the same components with further ones, for example of an image. */
export const withComponents = (sbom: Sbom, more: readonly Component[], release: Release): Sbom =>
  reproducible({ ...sbom, components: [...sbom.components, ...more] }, release)

function reproducible(sbom: Sbom, release: Release): Sbom {
  const metadata = { ...sbom.metadata, timestamp: isoTime(release) }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify([release.commit, sbom.components]))}`
  return { ...sbom, serialNumber, metadata }
}

/** A name-based UUID (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
