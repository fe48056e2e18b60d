// The images: pharos (a base of a few Debian packages, Node.js, the tree) and pharos-gobgpd (the same base and Debian's GoBGP).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basePackages, copyNode, unpackPackages } from './base.ts'
import type { Node } from './deb.ts'
import { writeImage, type Image } from './oci.ts'
import type { Arch, Release } from './release.ts'
import { sbomOfFile, withComponents, type Component } from './sbom.ts'
import { entriesBelow, foldersAbove, type TarEntry } from './tar.ts'

export type ImageParts = { readonly arch: Arch; readonly tree: string; readonly node: Node }

const USER = 65_532
const NODE = '/usr/lib/pharos-node/bin/node'

/** There is no shell in the image: this is `pharos` for `podman exec`. */
const command = `#!${NODE}\nimport '/usr/lib/pharos/server/bin/pharos.mjs'\n`

/** Writes the images, and the bill of materials of the first one; returns the names of the files. */
export async function makeImages(
  work: string,
  parts: readonly ImageParts[],
  release: Release,
  out: string,
): Promise<string[]> {
  const [pharos, gobgpd, sboms] = [[] as Image[], [] as Image[], [] as string[]]
  for (const part of parts) {
    const base = join(work, `base-${part.arch}`)
    const packages = unpackPackages(base, basePackages, part.arch)
    pharos.push(pharosImage(work, base, part))
    sboms.push(writeSbom(part, packages, release, out))
    const router = join(work, `gobgpd-${part.arch}`)
    unpackPackages(router, [...basePackages.slice(0, 2), 'gobgpd'], part.arch)
    gobgpd.push(gobgpdImage(router, part.arch))
  }
  const files = [`pharos-${release.version}.oci.tar`, `pharos-gobgpd-${release.version}.oci.tar`]
  await writeImage(join(out, files[0]!), pharos, release.version, release)
  await writeImage(join(out, files[1]!), gobgpd, release.version, release)
  return [...files, ...sboms]
}

function pharosImage(work: string, base: string, { arch, tree, node }: ImageParts): Image {
  const program = join(work, `node-layer-${arch}`)
  copyNode(node.folder, program)
  return {
    arch,
    layers: [
      {
        title: `${basePackages.join(', ')} of Debian`,
        entries: [...entriesBelow(base), temporary],
      },
      { title: `Node.js ${node.version}`, entries: below('usr/lib/pharos-node/', program) },
      { title: 'Pharos', entries: [...below('usr/lib/pharos/', tree), ...ownEntries] },
    ],
    config: {
      User: `${USER}:${USER}`,
      Entrypoint: [NODE, '/usr/lib/pharos/server/bin/pharos.mjs'],
      Cmd: ['serve'],
      Env: [
        'PATH=/usr/bin',
        'PHAROS_HOST=0.0.0.0',
        'PHAROS_DATA_DIR=/var/lib/pharos',
        'NODE_COMPILE_CACHE=/var/lib/pharos/compiled',
      ],
      WorkingDir: '/var/lib/pharos',
      ExposedPorts: { '8080/tcp': {}, '2055/udp': {}, '6343/udp': {}, '8053/tcp': {}, '8053/udp': {} },
      Volumes: { '/var/lib/pharos': {} },
    },
  }
}

function gobgpdImage(folder: string, arch: Arch): Image {
  return {
    arch,
    layers: [{ title: 'gobgpd of Debian', entries: [...entriesBelow(folder), temporary] }],
    config: {
      // As in docs/operating/gobgpd.service. SIGTERM would withdraw every route.
      Entrypoint: ['/usr/bin/gobgpd', '-f', '/etc/gobgpd.conf', '-r', '--log-plain', '--pprof-disable'],
      Cmd: ['--api-hosts', '0.0.0.0:50051'],
      StopSignal: 'SIGKILL',
      ExposedPorts: { '179/tcp': {}, '50051/tcp': {} },
    },
  }
}

const temporary: TarEntry = { path: 'tmp/', mode: 0o1777 }

const ownEntries: TarEntry[] = [
  { path: 'usr/bin/', mode: 0o755 },
  { path: 'usr/bin/pharos', mode: 0o755, content: Buffer.from(command) },
  { path: 'var/', mode: 0o755 },
  { path: 'var/lib/', mode: 0o755 },
  { path: 'var/lib/pharos/', mode: 0o700, owner: USER },
]

const below = (prefix: string, folder: string): TarEntry[] => [
  ...foldersAbove(prefix),
  { path: prefix, mode: 0o755 },
  ...entriesBelow(folder, prefix),
]

/** The bill of the image: that of the tree, Node.js and the packages of the base. */
function writeSbom(
  { arch, tree, node }: ImageParts,
  packages: Component[],
  release: Release,
  out: string,
): string {
  const purl = `pkg:generic/node@${node.version}`
  const own = { 'bom-ref': purl, type: 'application', name: 'node', version: node.version, purl }
  const sbom = withComponents(sbomOfFile(join(tree, 'sbom.cdx.json')), [own, ...packages], release)
  const file = `pharos-${release.version}-${arch}.sbom.cdx.json`
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, file), `${JSON.stringify(sbom, null, 2)}\n`)
  return file
}
