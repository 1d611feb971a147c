-- All kinds of postwright.dev report Ready, and while that is not True either Reconciling or Stalled.
local waiting = { status = "Progressing", message = "Waiting for the operator." }
if obj.status == nil or obj.status.conditions == nil then
  return waiting
end
if obj.status.observedGeneration ~= obj.metadata.generation then
  return waiting
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local ready = conditions["Ready"]
if ready == nil then
  return waiting
end
if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end

local stalled = conditions["Stalled"]
if stalled == nil or stalled.status ~= "True" then
  return { status = "Progressing", message = ready.message }
end
-- A user stopped it: by the annotation postwright.dev/reconcile, or a domain by spec.suspended or in the panel.
if stalled.reason == "Paused" or stalled.reason == "Suspended" then
  return { status = "Suspended", message = stalled.message }
end
return { status = "Degraded", message = stalled.message }
