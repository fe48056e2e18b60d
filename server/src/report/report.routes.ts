// HTTP routes of the monthly report.
import { downloadMonthlyReportRoute, getMonthlyReportRoute } from '@pharos/contract/messages/report'
import { handle, type Mounted } from '../http/mount.ts'
import { downloadMonthlyReport, getMonthlyReport, type ReportRouteDeps } from './report.ts'

export const reportRoutes = (deps: ReportRouteDeps): Mounted[] => [
  handle(getMonthlyReportRoute, getMonthlyReport, deps),
  handle(downloadMonthlyReportRoute, downloadMonthlyReport, deps),
]
