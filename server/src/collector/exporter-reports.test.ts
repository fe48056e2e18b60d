import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createDecoder } from '../drivers/netflow/decoder.ts'
import { decodeAll, ipfix, options, pack, set, template, u16, u32 } from '../drivers/netflow/testing.ts'
import { createExporterReports } from './exporter-reports.ts'

it('templates and rates that change many times are reported once, as they are at last', () => {
  const sent: string[] = []
  const reports = createExporterReports((report) => {
    if (report.kind === 'template')
      sent.push(`template ${report.template.id} ${report.template.fields.length}`)
    else if (report.kind === 'withdrawal') sent.push(`withdrawal ${report.key.id}`)
    else sent.push(`${report.kind} ${report.sampling.inIf} ${report.sampling.rate}`)
  })
  const decoder = createDecoder({
    onTemplate: (one) => reports.add({ kind: 'template', template: one }),
    onWithdrawal: (key) => reports.add({ kind: 'withdrawal', key }),
    onSampling: (sampling) => reports.add({ kind: 'sampling', sampling }),
    onOutdatedSampling: (sampling) => reports.add({ kind: 'outdated-sampling', sampling }),
  })
  const [short, long] = [template(256, [8, 4]), template(256, [8, 4], [1, 4])]
  const changes = Array.from({ length: 1000 }, () => [short, long]).flat()
  const rates = (rate: number) => pack(u32(7), u32(rate), u32(8), u32(rate))
  decodeAll(decoder, [
    ipfix({}, set(2, template(257, [8, 4]), ...changes, u16(257), u16(0))),
    ipfix({}, set(3, options(300, [[10, 4]], [34, 4])), set(300, rates(1), rates(2), rates(3))),
  ])
  reports.send()
  const first = ['withdrawal 257', 'template 256 2', 'template 300 2', 'sampling 7 3', 'sampling 8 3']
  assert.deepEqual(sent, first)
  decodeAll(decoder, [ipfix({}, set(3, options(300, [[144, 4]], [34, 4])), set(300, u32(1), u32(4)))])
  reports.send()
  assert.deepEqual(sent.slice(first.length), [
    'outdated-sampling 7 3',
    'outdated-sampling 8 3',
    'template 300 2',
    'sampling 0 4',
  ])
})
