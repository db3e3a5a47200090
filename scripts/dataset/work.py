import json

counts = {}
for i in range(20000):
    key = "key %d" % (i % 1000)
    counts[key] = counts.get(key, 0) + i
text = json.dumps([counts] * 10)
print(len(json.loads(text)), len(text))
