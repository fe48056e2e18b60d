// Compresses the answers of the API above 1 kB for clients that accept it: text and JSON, since other downloads are
// compressed already. Routes with `compress: false` are excluded: their answers contain a credential.
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { constants, type ZlibOptions } from 'node:zlib'

const bytesMin = 1_000
/**
 * Limit of synchronous compression, which takes half a millisecond; larger answers are compressed in another thread.
 */
const syncBytesMax = 256 * 1024

// A page of 100 events, 85 kB: zstd 1 to 8.3 kB in 67 us, brotli 1 to 8.8 kB in 92 us, gzip 1 to 9.6 kB in 138 us. The default
// levels take 2 to 5 times as long and save 3 to 12 % more.
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const gzipOptions: ZlibOptions = { level: 1 }

/** Requests are not decompressed: a kilobyte of gzip can be a gigabyte. */
export async function addCompression(server: FastifyInstance): Promise<void> {
  await server.register(compress, {
    encodings: ['zstd', 'br', 'gzip'],
    threshold: bytesMin,
    customTypes: /^text\/(?!event-stream)|[+/]json(?:;|$)/,
    syncThreshold: syncBytesMax,
    globalDecompression: false,
    brotliOptions,
    // One option for both.
    zlibOptions: { ...zstdOptions, ...gzipOptions },
  })
}
