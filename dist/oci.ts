// Writes images as archives of the OCI layout (OCI image specification 1.1): one image for each platform below one index. The same files give the
// same bytes.
import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { debianArch, isoTime, type Arch, type Release } from './release.ts'
import { tarOf, type TarEntry } from './tar.ts'

export type Image = {
  readonly arch: Arch
  readonly layers: readonly { readonly title: string; readonly entries: readonly TarEntry[] }[]
  readonly config: Readonly<Record<string, unknown>>
}

type Descriptor = {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  [more: string]: unknown
}

const type = (name: string) => `application/vnd.oci.image.${name}`

/** Writes the archive `file`. `reference` is the tag under which tools import it. */
export async function writeImage(
  file: string,
  images: readonly Image[],
  reference: string,
  release: Release,
): Promise<void> {
  const blobs = `${file}.blobs`
  mkdirSync(blobs, { recursive: true })
  const stored: TarEntry[] = []
  const store = (mediaType: string, value: unknown): Descriptor => {
    const content = Buffer.from(JSON.stringify(value))
    const digest = createHash('sha256').update(content).digest('hex')
    stored.push({ path: blobPath(digest), mode: 0o644, content })
    return { mediaType, digest: `sha256:${digest}`, size: content.length }
  }
  const manifests: Descriptor[] = []
  for (const { arch, layers, config } of images) {
    const written = []
    for (const { entries } of layers) written.push(await writeLayer(blobs, entries, release.time))
    for (const { digest, size } of written)
      stored.push({ path: blobPath(digest), mode: 0o644, content: { file: join(blobs, digest), size } })
    const platform = { architecture: debianArch[arch], os: 'linux' }
    const created = isoTime(release)
    const history = layers.map(({ title }) => ({ created, created_by: title }))
    const rootfs = { type: 'layers', diff_ids: written.map(({ diffId }) => `sha256:${diffId}`) }
    const manifest = {
      schemaVersion: 2,
      mediaType: type('manifest.v1+json'),
      config: store(type('config.v1+json'), { created, ...platform, config, rootfs, history }),
      layers: written.map(({ digest, size }) => ({
        mediaType: type('layer.v1.tar+gzip'),
        digest: `sha256:${digest}`,
        size,
      })),
      annotations: annotationsOf(release),
    }
    manifests.push({ ...store(type('manifest.v1+json'), manifest), platform })
  }
  const index = store(type('index.v1+json'), {
    schemaVersion: 2,
    mediaType: type('index.v1+json'),
    manifests,
  })
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': reference } }
  const layout: TarEntry[] = [
    textEntry('oci-layout', { imageLayoutVersion: '1.0.0' }),
    textEntry('index.json', { schemaVersion: 2, manifests: [named] }),
    { path: 'blobs/', mode: 0o755 },
    { path: 'blobs/sha256/', mode: 0o755 },
    ...stored,
  ]
  await pipeline(Readable.from(tarOf(layout, release.time)), createWriteStream(file))
  rmSync(blobs, { recursive: true })
}

const blobPath = (digest: string) => `blobs/sha256/${digest}`

const textEntry = (path: string, value: unknown): TarEntry => ({
  path,
  mode: 0o644,
  content: Buffer.from(JSON.stringify(value)),
})

const annotationsOf = (release: Release) => ({
  'org.opencontainers.image.created': isoTime(release),
  'org.opencontainers.image.revision': release.commit,
  'org.opencontainers.image.version': release.version,
  'org.opencontainers.image.licenses': 'Apache-2.0',
})

/** Writes a layer under its digest; `diffId` is the digest of the archive before it is compressed. */
async function writeLayer(folder: string, entries: readonly TarEntry[], time: number) {
  const [plain, compressed, part] = [createHash('sha256'), createHash('sha256'), join(folder, 'part')]
  await pipeline(
    Readable.from(tarOf(entries, time)),
    (chunks) => hashed(chunks, plain),
    createGzip({ level: 9 }),
    (chunks) => hashed(chunks, compressed),
    createWriteStream(part),
  )
  const digest = compressed.digest('hex')
  renameSync(part, join(folder, digest))
  return { digest, diffId: plain.digest('hex'), size: statSync(join(folder, digest)).size }
}

async function* hashed(
  chunks: AsyncIterable<Buffer>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}
