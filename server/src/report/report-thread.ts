// The thread that renders one monthly report.
import { workerData } from 'node:worker_threads'
import { answerFromThread } from '../runtime/thread.ts'
import { drawPages, type ReportPdf } from './report-page.ts'

answerFromThread(drawPages(workerData as ReportPdf))
