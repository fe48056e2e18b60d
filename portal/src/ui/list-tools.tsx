// The tools of a list: choosing its columns, and exporting all of its rows.
import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Progress, Stack, Text } from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import { IconColumns3, IconDownload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { allRows, type PageOf, type Row } from './all-rows.ts'
import { download, writerOf, type FileKind } from './export-file.ts'
import { inputOf, type ListRequest } from './list-requests.ts'
import { notifyProblem } from './notify.ts'

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

type ExportProps = { name: string; route: Route; request: ListRequest; count: number }
const mediaTypes: Record<FileKind, string> = { csv: 'text/csv', json: 'application/json' }

export function Export({ name, route, request, count }: ExportProps) {
  const [rows, setRows] = useState<number>()
  const running = useRef<AbortController>(undefined)
  async function exportAs(kind: FileKind) {
    const { signal } = (running.current = new AbortController())
    setRows(0)
    try {
      const parts = await partsOf(kind, route, request, signal, setRows)
      download(`${name}.${kind}`, new Blob(parts, { type: mediaTypes[kind] }))
    } catch (error) {
      if (!signal.aborted) notifyProblem(error)
    } finally {
      setRows(undefined)
    }
  }
  if (rows !== undefined)
    return (
      <Group gap="xs" wrap="nowrap">
        <Progress w={100} value={(100 * rows) / Math.max(1, count)} aria-label="Export progress" />
        <Text size="xs">
          {rows.toLocaleString('en')} of {count.toLocaleString('en')} exported
        </Text>
        <Button size="compact-xs" variant="default" onClick={() => running.current?.abort()}>
          Cancel
        </Button>
      </Group>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label="Export" disabled={count === 0}>
          <IconDownload size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Export all {count.toLocaleString('en')} (current filters and sort)</Menu.Label>
        <Menu.Item onClick={() => void exportAs('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => void exportAs('json')}>JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Returns the file in pieces of one page each, so that the rows themselves are not kept. Throws when it is cancelled. */
async function partsOf(
  kind: FileKind,
  route: Route,
  request: ListRequest,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<string[]> {
  const writer = writerOf(kind)
  const parts: string[] = []
  let rows = 0
  const ask = async (offset: number, limit: number) =>
    (await call(route, { ...inputOf(request, offset, limit), signal })).body as unknown as PageOf<Row>
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
