// The drivers of the port LetterScanner, by the scheme of the URL in `clamd_url`.
import { clamd } from './clamd/scanner.ts'
import { urlDriverList } from './driver/url-driver.ts'

export const scannerDrivers = urlDriverList('scanner', [clamd])
