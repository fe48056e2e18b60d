// Rates as the contract formats them for mails and reports.
export { formatRate } from '@pharos/contract/rate'
