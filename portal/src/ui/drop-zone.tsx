// A place to drop a file. Dropping needs a pointer; the field inside works with the keyboard.
import { Paper } from '@mantine/core'
import { useState, type DragEvent, type ReactNode } from 'react'
import classes from './drop-zone.module.css'

export function DropZone({ onDrop, children }: { onDrop: (file: File) => void; children: ReactNode }) {
  const [isOver, setIsOver] = useState(false)
  function take(event: DragEvent) {
    event.preventDefault()
    setIsOver(false)
    const [file] = event.dataTransfer.files
    if (file) onDrop(file)
  }
  return (
    <Paper
      withBorder
      p="sm"
      className={classes['drop']!}
      data-over={isOver || undefined}
      data-drop
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={take}
    >
      {children}
    </Paper>
  )
}
