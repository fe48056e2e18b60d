// Templates and sampling rates that the decoder learns, on their way to the main thread: the newest of each key, once a second. A datagram can
// change thousands of them, and messages that the main thread has not read yet would take memory without a limit.
import type { FromReceiver } from './messages.ts'

type Report = Extract<
  FromReceiver,
  { readonly kind: 'template' | 'withdrawal' | 'sampling' | 'outdated-sampling' }
>

export type ExporterReports = {
  add(report: Report): void
  /** Sends the additions since the last call. */
  send(): void
}

export function createExporterReports(send: (report: Report) => void): ExporterReports {
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
