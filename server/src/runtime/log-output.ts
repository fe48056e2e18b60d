// Writes the lines of the log to a file descriptor. A full disk, a quota or a lost terminal must not end the process that serves routes
// and zones: lines that cannot be written are counted, and the count is written once the descriptor accepts lines again.
import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Pause before another attempt at a pipe whose reader is slow, as pino's own destination makes it. */
const fullPipeMs = 20

/** Returns a destination that never throws. `lineOf` makes the line about lost ones. */
export function createLogOutput(fd: number, lineOf: (lost: number) => string): DestinationStream {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  let lost = 0
  /** The last line was cut. */
  let isCut = false

  /** Returns false if not all of the text was written. */
  function writeText(text: string): boolean {
    const octets = Buffer.from(text)
    for (let at = 0; at < octets.length;) {
      try {
        at += writeSync(fd, octets, at)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EAGAIN' || code === 'EBUSY') {
          Atomics.wait(pause, 0, 0, fullPipeMs)
          continue
        }
        isCut ||= at > 0 && octets[at - 1] !== newline
        return false
      }
    }
    return true
  }

  return {
    write(lines) {
      const before = lost > 0 ? `${isCut ? '\n' : ''}${lineOf(lost)}` : ''
      if (before !== '' && !writeText(before)) {
        lost += countLines(lines)
        return
      }
      if (before !== '') [lost, isCut] = [0, false]
      if (!writeText(lines)) lost += countLines(lines)
    },
  }
}

const newline = 10

const countLines = (text: string): number => text.split('\n').length - 1
