// Folders with the files of a few Debian packages, for the images: no base image is downloaded, and no code of the packages runs.
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { capture, run } from './program.ts'
import { debianArch, type Arch } from './release.ts'
import type { Component } from './sbom.ts'

/** The packages that Node.js needs: no shell, no package manager. */
export const basePackages = ['base-files', 'libc6', 'libatomic1', 'libgcc-s1', 'libstdc++6', 'tzdata']

const documents = [
  'usr/share/man',
  'usr/share/info',
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/bug',
]

/** Without a name service, as in images without a shell. */
const identities = {
  'etc/passwd': 'root:x:0:0:root:/root:/sbin/nologin\npharos:x:65532:65532::/var/lib/pharos:/sbin/nologin\n',
  'etc/group': 'root:x:0:\npharos:x:65532:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

/** Unpacks the newest packages of this machine's sources into `folder`; returns their components. */
export function unpackPackages(folder: string, names: readonly string[], arch: Arch): Component[] {
  const downloads = `${folder}.apt`
  const files = download(downloads, names, arch)
  mkdirSync(join(folder, 'var/lib/dpkg/status.d'), { recursive: true })
  const components = files.map((file) => unpack(file, folder))
  for (const path of documents) rmSync(join(folder, path), { recursive: true, force: true })
  for (const [path, text] of Object.entries(identities)) writeFileSync(join(folder, path), text)
  rmSync(downloads, { recursive: true })
  return components
}

function download(folder: string, names: readonly string[], arch: Arch): string[] {
  for (const path of ['state/lists/partial', 'cache/archives/partial', 'files'])
    mkdirSync(join(folder, path), { recursive: true })
  const settings = [
    `Dir::State=${folder}/state`,
    `Dir::State::status=/dev/null`,
    `Dir::Cache=${folder}/cache`,
    `APT::Architecture=${debianArch[arch]}`,
    `APT::Architectures=${debianArch[arch]}`,
    'APT::Sandbox::User=',
  ].flatMap((setting) => ['-o', setting])
  run('apt-get', [...settings, '-q', 'update'])
  run('apt-get', [...settings, '-q', 'download', ...names], { cwd: join(folder, 'files') })
  return readdirSync(join(folder, 'files'))
    .sort()
    .map((name) => join(folder, 'files', name))
}

/** The fields of the package stay in status.d, where scanners of images look for them. */
function unpack(file: string, folder: string): Component {
  run('dpkg-deb', ['--extract', file, folder])
  const fields = capture('dpkg-deb', ['--field', file])
  const [name = '', version = '', arch = ''] = ['Package', 'Version', 'Architecture'].map((field) =>
    capture('dpkg-deb', ['--field', file, field]).trim(),
  )
  writeFileSync(join(folder, 'var/lib/dpkg/status.d', basename(name)), fields)
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`
  return { 'bom-ref': purl, type: 'library', name, version, purl }
}

/** Copies the program of Node.js and its license, without headers and npm. */
export function copyNode(from: string, folder: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  cpSync(join(from, 'bin/node'), join(folder, 'bin/node'))
  cpSync(join(from, 'LICENSE'), join(folder, 'LICENSE'))
}
