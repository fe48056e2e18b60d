// Examples of the bills of all teams.
import { exportStaffBillsRoute, listStaffBillsRoute } from '../operator/bill.ts'
import { example } from '../example.ts'
import { closedBill } from './bill.ts'
import { transit } from './service.ts'
import { team } from './world.ts'

export const adminBillExamples = [
  example(listStaffBillsRoute, {
    query: { period: '2026-03' },
    response: {
      results: [
        {
          team_id: team.id,
          team: 'lindholm',
          service_id: transit.id,
          service: transit.name,
          billing_ref: transit.billing_ref,
          ...closedBill,
        },
      ],
      count: 1,
    },
  }),
  example(exportStaffBillsRoute, { query: { period: '2026-03', current: true } }),
]
