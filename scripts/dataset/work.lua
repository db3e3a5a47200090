local counts = {}
for i = 1, 50000 do
  local key = "key " .. (i % 1000)
  counts[key] = (counts[key] or 0) + i
end
local function sum(values)
  local total = 0
  for i = 1, #values do total = total + values[i] end
  return total
end
local values = {}
for i = 1, 20000 do values[i] = i % 7 end
local total = 0
for round = 1, 50 do total = total + sum(values) end
print(total)
