// Writes the lines of the log to a file descriptor. A full disk, a quota, a lost terminal or a pipe without a reader
// must neither end nor stop the process that serves routes and zones: lines that cannot be written are counted, and the
// count is written once the descriptor accepts lines again.
import { fstatSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { exitWork } from './exit-work.ts'

/** Pause before another attempt at a pipe whose reader is slow. */
const fullPipeMs = 20
/** Limit of lines that wait for a slow reader; further lines are lost. */
const waitingBytesMax = 2 ** 20
/** Maximum wait of the end of the process for a slow reader. */
const exitMs = 500

type Chunk = {
  octets: Buffer
  /** Lines that are lost if it cannot be written. */
  readonly lines: number
}

/** Returns a destination that never throws and never waits. `lineOf` makes the line about lost ones. */
export function createLogOutput(fd: number, lineOf: (lost: number) => string): DestinationStream {
  if (fd === 1) unblockOutput()
  const waiting: Chunk[] = []
  let waitingBytes = 0
  let lost = 0
  let isAtStart = true
  let timer: NodeJS.Timeout | undefined
  /** Time left for waits; 0 before the end of the process. */
  let patienceMs = 0

  function add(text: string, lines: number): void {
    const octets = Buffer.from(text)
    waiting.push({ octets, lines })
    waitingBytes += octets.length
  }

  /** Writes waiting lines, until the descriptor accepts no more. */
  function drain(): void {
    for (let chunk = waiting[0]; chunk; chunk = waiting[0]) {
      try {
        const count = writeSync(fd, chunk.octets)
        waitingBytes -= count
        if (count > 0) isAtStart = chunk.octets[count - 1] === newline
        chunk.octets = chunk.octets.subarray(count)
        if (chunk.octets.length === 0) waiting.shift()
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'EAGAIN' && code !== 'EBUSY') return loseAll()
        if (patienceMs <= 0) return retryLater()
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs)
        patienceMs -= fullPipeMs
      }
    }
  }

  function loseAll(): void {
    for (const { lines } of waiting) lost += lines
    waiting.length = 0
    waitingBytes = 0
  }

  function retryLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      drain()
    }, fullPipeMs).unref()
  }

  function finish(): void {
    patienceMs = exitMs
    drain()
  }

  return {
    write(lines) {
      drain()
      if (waitingBytes > waitingBytesMax) {
        lost += countLines(lines)
        return
      }
      if (lost > 0) {
        add(`${isAtStart || waiting.length > 0 ? '' : '\n'}${lineOf(lost)}`, lost)
        lost = 0
      }
      add(lines, countLines(lines))
      drain()
      if (waiting.length > 0) exitWork.add(finish)
      else exitWork.delete(finish)
    },
  }
}

/**
 * A write to a full pipe then fails instead of waiting for its reader: Node.js makes the descriptor non-blocking when
 * it opens the stream. A file has no reader, and a terminal is read by a person.
 */
function unblockOutput(): void {
  const stat = fstatSync(1)
  if (stat.isFIFO() || stat.isSocket()) void process.stdout
}

const newline = 10

const countLines = (text: string): number => text.split('\n').length - 1
