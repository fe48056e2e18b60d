import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stepsOf } from './instructions.ts'

describe('the instructions of a proof', () => {
  it('have the line of an aut-num object apart from the sentence about it', () => {
    assert.deepEqual(
      stepsOf('Add this line to your aut-num object:\n\nremarks:        pharos-asn-verify=abc'),
      [
        {
          text: 'Add this line to your aut-num object:',
          lines: ['remarks:        pharos-asn-verify=abc'],
          isOneOf: false,
        },
      ],
    )
  })

  it('tell records of which one is enough from those that are all needed', () => {
    const steps = stepsOf(
      [
        'Create one of these records:',
        '_a.example. 3600 IN TXT "t"',
        '_b.example. 3600 IN TXT "t"',
        'Or all of these, the zones of 198.18.64.0/23:',
        '_c.example. 3600 IN TXT "t"',
        '_d.example. 3600 IN TXT "t"',
      ].join('\n'),
    )
    assert.deepEqual(
      steps.map(({ lines, isOneOf }) => [lines.length, isOneOf]),
      [
        [2, true],
        [2, false],
      ],
    )
  })

  it('stay sentences where there is nothing to copy', () => {
    assert.deepEqual(stepsOf('Once a prefix is the team’s, a ROA of it is a proof.'), [
      { text: 'Once a prefix is the team’s, a ROA of it is a proof.', lines: [], isOneOf: false },
    ])
  })

  it('lose no line, whatever they hold', () => {
    const texts = ['a', 'a:\nb\nc', 'a:\n\nb:\nc', 'x\ny:\nz', ':']
    for (const text of texts) {
      const all = stepsOf(text).flatMap((step) => [step.text, ...step.lines])
      assert.deepEqual(
        all,
        text.split('\n').filter((line) => line !== ''),
      )
    }
  })
})
