// What can be done with a list as a whole: choosing its columns, and taking all of its rows along as a file.
import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Progress, Stack, Text } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { IconColumns3, IconDownload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { allRows, type PageOf, type Row } from './all-rows.ts'
import { download, writerOf, type FileKind } from './download.ts'
import { inputOf, type Asked } from './list-pages.ts'
import { tellProblem } from './problem.tsx'

type ColumnChoiceProps = {
  readonly columns: readonly { readonly id: string; readonly header: string }[]
  readonly isShown: (id: string) => boolean
  readonly onToggle: (id: string) => void
}

export function ColumnChoice({ columns, isShown, onToggle }: ColumnChoiceProps) {
  return (
    <Popover position="bottom-end" shadow="md">
      <Popover.Target>
        <ActionIcon aria-label="Choose columns">
          <IconColumns3 size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          {columns
            .filter(({ header }) => header !== '')
            .map(({ id, header }) => (
              <Checkbox
                key={id}
                size="xs"
                label={header}
                checked={isShown(id)}
                onChange={() => onToggle(id)}
              />
            ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

type ExportProps = { name: string; route: Route; asked: Asked; count: number }
const mediaTypes: Record<FileKind, string> = { csv: 'text/csv', json: 'application/json' }

export function Export({ name, route, asked, count }: ExportProps) {
  const [rows, setRows] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  async function take(kind: FileKind) {
    const { signal } = (stop.current = new AbortController())
    setRows(0)
    try {
      const parts = await partsOf(kind, route, asked, signal, setRows)
      download(`${name}.${kind}`, new Blob(parts, { type: mediaTypes[kind] }))
    } catch (error) {
      if (!signal.aborted) tellProblem(error)
    } finally {
      setRows(undefined)
    }
  }
  if (rows !== undefined)
    return (
      <Group gap="xs" wrap="nowrap">
        <Progress w={100} value={(100 * rows) / Math.max(1, count)} aria-label="Rows of the file" />
        <Text size="xs">{rows.toLocaleString('en')} read</Text>
        <Button size="compact-xs" variant="default" onClick={() => stop.current?.abort()}>
          Cancel
        </Button>
      </Group>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="Export all rows" disabled={count === 0}>
          <IconDownload size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All {count.toLocaleString('en')} rows, as filtered and ordered</Menu.Label>
        <Menu.Item onClick={() => void take('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => void take('json')}>JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** The file in pieces, a page of rows each: the rows themselves are not kept. Throws when it is stopped. */
async function partsOf(
  kind: FileKind,
  route: Route,
  asked: Asked,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<string[]> {
  const writer = writerOf(kind)
  const parts: string[] = []
  let rows = 0
  const ask = async (offset: number, limit: number) =>
    (await call(route, { ...inputOf(asked, offset, limit), signal })).body as unknown as PageOf<Row>
  for await (const { results } of allRows(ask, (seconds) => pause(seconds, signal))) {
    parts.push(writer.add(results))
    onRows((rows += results.length))
  }
  return [...parts, writer.end()]
}

const pause = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
