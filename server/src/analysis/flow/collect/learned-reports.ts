// Templates and sampling rates that the decoder learns, on their way to the main thread: the newest of each key, once a second. A datagram can
// change thousands of them, and messages that the main thread has not read yet would take memory without a limit.
import type { FromReceiver } from './messages.ts'

type Report = Extract<
  FromReceiver,
  { readonly kind: 'template' | 'withdrawal' | 'sampling' | 'outdated-sampling' }
>

export type LearnedReports = {
  add(report: Report): void
  /** Sends what was added since. */
  send(): void
}

export function createLearnedReports(send: (report: Report) => void): LearnedReports {
  const waiting = new Map<string, Report>()
  return {
    add: (report) => void waiting.set(keyOf(report), report),
    send() {
      for (const report of waiting.values()) send(report)
      waiting.clear()
    },
  }
}

function keyOf(report: Report): string {
  if (report.kind === 'sampling' || report.kind === 'outdated-sampling') {
    const { exporter, port, version, domain, sampler, inIf } = report.sampling
    return `rate ${exporter} ${port} ${version} ${domain} ${sampler} ${inIf}`
  }
  const { exporter, port, version, domain, id } = report.kind === 'template' ? report.template : report.key
  return `template ${exporter} ${port} ${version} ${domain} ${id}`
}
