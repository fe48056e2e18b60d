// The limit of open files and sockets of this process, from Linux.
import { readFile } from 'node:fs/promises'

/** The soft limit; undefined on systems without /proc, or without a limit. */
export async function openFilesMax(file = '/proc/self/limits'): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, soft] = /^Max open files\s+(\d+)/m.exec(text) ?? []
  return soft === undefined ? undefined : Number(soft)
}
