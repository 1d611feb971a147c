/** One submission of a form at a time, and whether its input is saved. */
import { type Mutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useUnsavedWork } from './unsaved-work.tsx'

type Request = Mutation<unknown, Error, unknown, unknown>

/** A form before its submission is guarded. */
interface Form {
  submit: () => void
  isPending: boolean
  /** What would be lost. */
  input: object
  /** More input that would be lost. */
  unsaved: boolean
}

/**
 * Returns the guarded `submit`. A second call while a request of the first one is in flight does nothing: the state of the mutation
 * cache is read, because a double click is faster than the next rendering. Input counts as saved as soon as the request that had it
 * has succeeded, so that the form may navigate then, and with what the form made of it by its next rendering.
 */
export function useSubmission({ submit, isPending, input, unsaved }: Form): () => void {
  const cache = useQueryClient().getMutationCache()
  const now = JSON.stringify(input)
  const saved = useRef(now)
  const sent = useRef<{ input: string; requests: Request[] }>({ input: now, requests: [] })
  const hasStatus = (status: Request['state']['status']) =>
    sent.current.requests.some(request => request.state.status === status)
  useUnsavedWork(() => (hasStatus('success') ? now !== sent.current.input : unsaved || now !== saved.current))
  useEffect(() => {
    if (isPending || !hasStatus('success')) return
    saved.current = now
    sent.current.requests = []
  })
  return () => {
    if (hasStatus('pending')) return
    const before = new Set(cache.getAll())
    submit()
    sent.current = { input: now, requests: cache.getAll().filter(request => !before.has(request)) }
  }
}
