// The report of a month, as the server makes it for this page, for the PDF and for mails. Printing leaves out the frame.
import { Button, NativeSelect, Skeleton, Text } from '@mantine/core'
import { downloadMonthlyReportRoute, getMonthlyReportRoute } from '@pharos/contract/messages/report'
import { monthText } from '@pharos/contract/messages/report-text'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { useAnswer } from '../api/queries.ts'
import { useUser } from '../api/use-session.ts'
import { download } from '../ui/export-file.ts'
import { TextLink } from '../ui/link.tsx'
import { notifyProblem } from '../ui/notify.ts'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { timeIn } from '../ui/time-text.ts'
import { usePageSearch } from '../ui/use-page-search.ts'
import { isMonth, monthAt } from './month.ts'
import { Attacks, Changes, Services } from './report-parts.tsx'
import { Traffic } from './report-traffic.tsx'
import classes from './reports.module.css'
import { words } from './words.ts'

/** Months that can be chosen: hourly sums are kept for 400 days. */
const monthsShown = 13

export function Report() {
  const { search, setSearch } = usePageSearch('/reports')
  const user = useUser()
  const months = Array.from({ length: monthsShown }, (_, at) => monthAt(-at, Date.now(), 'UTC'))
  const wanted = String(search.month ?? '')
  const month = isMonth(wanted) ? wanted : months[1]!
  const { data, error, refetch } = useAnswer(getMonthlyReportRoute, { params: { month } })
  const name = data && !data.complete ? words.soFar(monthText(month)) : monthText(month)
  return (
    <Page
      title={words.title}
      note={words.note(user?.current_team.name ?? '', name)}
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label={words.month}
            value={month}
            data={[...new Set([...months, month])].map((value) => ({ value, label: monthText(value) }))}
            onChange={({ currentTarget }) => setSearch({ month: currentTarget.value })}
          />
          <DownloadButton month={month} />
        </>
      }
    >
      {error && !data && <Problem error={error} retry={() => refetch()} />}
      {!data && !error && <Skeleton height={480} aria-busy />}
      {data && (
        <div className={classes['report']} data-report>
          <Traffic report={data} />
          <Attacks report={data} />
          {data.services !== null && <Services report={data} services={data.services} />}
          {data.changes !== null && <Changes report={data} changes={data.changes} />}
          <Text size="xs" c="dimmed">
            {words.prepared(data.provider, timeIn(data.prepared, data.timezone), data.timezone)}{' '}
            <TextLink to="/profile/notifications" underline="always">
              {words.subscribe}
            </TextLink>
          </Text>
        </div>
      )}
    </Page>
  )
}

function DownloadButton({ month }: { readonly month: string }) {
  const pdf = useMutation({
    mutationFn: () => call(downloadMonthlyReportRoute, { params: { month } }),
    onSuccess: ({ body }) => download(`report-${month}.pdf`, body),
    onError: notifyProblem,
  })
  return (
    <Button
      size="xs"
      leftSection={<IconDownload size={14} />}
      loading={pdf.isPending}
      onClick={() => pdf.mutate()}
    >
      {words.download}
    </Button>
  )
}
