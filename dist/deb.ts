// Makes the Debian packages: pharos, and pharos-node with the pinned Node.js, which is released alone when Node.js has a security fix.
import {
  chmodSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { run } from './program.ts'
import { debianArch, debianVersion, repository, type Arch, type Release } from './release.ts'

const MAINTAINER = 'Pharos maintainers <maintainers@pharos.example>'

/** The folder of the npm package of Node.js. */
export type Node = { readonly folder: string; readonly version: string }

type Package = {
  readonly name: string
  readonly version: string
  readonly arch: Arch
  /** The fields of the control file besides name, version, architecture, maintainer and size. */
  readonly fields: Readonly<Record<string, string>>
  readonly scripts?: readonly string[]
  readonly conffiles?: readonly string[]
  readonly overrides: readonly string[]
}

/** Makes `pharos_V_ARCH.deb` in `out` of a tree; returns its name. */
export function makePharosPackage(
  work: string,
  tree: string,
  arch: Arch,
  release: Release,
  out: string,
): string {
  const stage = join(work, `deb-${arch}`)
  const library = join(stage, 'usr/lib/pharos')
  const documents = join(stage, 'usr/share/doc/pharos')
  linkTree(tree, library, (path) => !['systemd', 'LICENSES', 'LICENSE', 'SECURITY.md'].includes(path))
  linkTree(join(tree, 'systemd'), join(stage, 'lib/systemd/system'))
  mkdirSync(documents, { recursive: true })
  // The server reads its guides from the tree.
  symlinkSync('../../../lib/pharos/docs', join(documents, 'docs'))
  cpSync(join(tree, 'LICENSES'), join(documents, 'copyright'))
  cpSync(join(tree, 'SECURITY.md'), join(documents, 'SECURITY.md'))
  install('pharos.sh', join(stage, 'usr/bin'), 'pharos', 0o755)
  install('pharos.yaml', join(stage, 'etc/pharos'), 'pharos.yaml', 0o644)
  return pack(stage, out, release, {
    name: 'pharos',
    version: debianVersion(release),
    arch,
    fields: {
      Section: 'net',
      Depends: 'nodejs (>= 24) | pharos-node, adduser, libc6 (>= 2.28), libgcc-s1, libstdc++6',
      Recommends: 'postgresql (>= 15)',
      Suggests: 'clickhouse-server, gobgpd',
      Description: [
        'control plane and portal of network service providers',
        ' Customers manage announcements, DNS zones, ports and attack mitigation in a',
        ' portal and an API; Pharos applies them to routers, name servers and scrubbers.',
      ].join('\n'),
    },
    scripts: ['postinst', 'prerm', 'postrm'],
    conffiles: ['/etc/pharos/pharos.yaml'],
    overrides: [
      '# Packages of npm, as their authors publish them.',
      'embedded-javascript-library',
      'embedded-library',
      'executable-not-elf-or-script',
      'extra-license-file',
      'font-in-non-font-package',
      'font-outside-font-dir',
      'package-contains-documentation-outside-usr-share-doc',
      'privacy-breach-generic',
      'privacy-breach-logo',
      'script-not-executable',
      'unstripped-binary-or-object',
      'wrong-path-for-interpreter',
      '# nodejs or pharos-node.',
      'missing-dep-for-interpreter',
      '# Native modules of npm for two C libraries; that of glibc is used.',
      'library-not-linked-against-libc',
      'shared-library-lacks-prerequisites',
      '# The licenses of all packages, word by word.',
      'copyright-file-contains-full-apache-2-license',
      'copyright-not-using-common-license-for-apache2',
      'copyright-without-copyright-notice',
      '# An operator runs them as root, and reads their help.',
      'no-manual-page',
    ],
  })
}

/** Makes `pharos-node_V_ARCH.deb`. */
export function makeNodePackage(work: string, node: Node, arch: Arch, release: Release, out: string): string {
  const stage = join(work, `deb-node-${arch}`)
  mkdirSync(join(stage, 'usr/lib/pharos-node/bin'), { recursive: true })
  mkdirSync(join(stage, 'usr/share/doc/pharos-node'), { recursive: true })
  cpSync(join(node.folder, 'bin/node'), join(stage, 'usr/lib/pharos-node/bin/node'))
  cpSync(join(node.folder, 'LICENSE'), join(stage, 'usr/share/doc/pharos-node/copyright'))
  return pack(stage, out, release, {
    name: 'pharos-node',
    version: node.version,
    arch,
    fields: {
      Section: 'javascript',
      Depends: 'libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6',
      Description: [
        'Node.js as Pharos is tested with it',
        ' A single program in /usr/lib/pharos-node, which disturbs no other Node.js. The',
        ' package nodejs, version 24 or later, is an alternative.',
      ].join('\n'),
    },
    overrides: [
      '# Node.js as its project builds it.',
      'embedded-library',
      'unstripped-binary-or-object',
      'hardening-no-pie',
      'hardening-no-fortify-functions',
      '# The licenses of all that it contains, word by word.',
      'copyright-file-contains-full-apache-2-license',
      'copyright-not-using-common-license-for-apache2',
      'copyright-not-using-common-license-for-gpl',
      'old-fsf-address-in-copyright-file',
    ],
  })
}

function pack(
  stage: string,
  out: string,
  release: Release,
  { name, version, arch, ...made }: Package,
): string {
  const documents = join(stage, 'usr/share/doc', name)
  const date = new Date(release.time * 1000).toUTCString().replace('GMT', '+0000')
  const changes = `${name} (${version}) unstable; urgency=medium\n\n  * Release ${version}.\n\n -- ${MAINTAINER}  ${date}\n`
  writeFileSync(join(documents, 'changelog.gz'), gzipSync(changes, { level: 9 }))
  write(
    join(stage, 'usr/share/lintian/overrides'),
    name,
    made.overrides.map((line) => (line.startsWith('#') ? line : `${name}: ${line}`)),
  )
  const control = join(stage, 'DEBIAN')
  const fields = {
    Package: name,
    Version: version,
    Architecture: debianArch[arch],
    Maintainer: MAINTAINER,
    Priority: 'optional',
    'Installed-Size': String(sizeOf(stage)),
    ...made.fields,
  }
  write(
    control,
    'control',
    Object.entries(fields).map(([field, value]) => `${field}: ${value}`),
  )
  for (const script of made.scripts ?? []) install(script, control, script, 0o755)
  if (made.conffiles) write(control, 'conffiles', made.conffiles)
  setModes(stage)
  const file = `${name}_${version}_${debianArch[arch]}.deb`
  // Level 1 is a tenth larger than the usual 6, in a fourth of the time.
  const options = ['--root-owner-group', '-Zxz', '-z1', '--threads-max=1']
  run('dpkg-deb', [...options, '--build', stage, join(out, file)], {
    env: { SOURCE_DATE_EPOCH: String(release.time) },
  })
  return file
}

function write(folder: string, name: string, lines: readonly string[]): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
}

function install(name: string, folder: string, as: string, mode: number): void {
  mkdirSync(folder, { recursive: true })
  cpSync(join(repository, 'dist/debian', name), join(folder, as))
  chmodSync(join(folder, as), mode)
}

/** Links the files instead of copying them: a tree has 160 MB. */
function linkTree(from: string, to: string, isWanted: (name: string) => boolean = () => true): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from).filter(isWanted)) {
    const [source, target] = [join(from, name), join(to, name)]
    const stat = lstatSync(source)
    if (stat.isDirectory()) linkTree(source, target)
    else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else linkSync(source, target)
  }
}

/** Does not depend on the umask of this process and of npm. */
function setModes(folder: string): void {
  chmodSync(folder, 0o755)
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const stat = lstatSync(file)
    if (stat.isDirectory()) setModes(file)
    else if (!stat.isSymbolicLink()) chmodSync(file, (stat.mode & 0o100) === 0 ? 0o644 : 0o755)
  }
}

/** In KiB, as dpkg counts it: each file in whole KiB, each folder as one. */
function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((total, name) => {
    const stat = lstatSync(join(folder, name))
    return total + (stat.isDirectory() ? 1 + sizeOf(join(folder, name)) : Math.ceil(stat.size / 1024))
  }, 0)
}
