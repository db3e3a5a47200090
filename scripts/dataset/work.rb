counts = Hash.new(0)
20_000.times { |i| counts["key #{i % 1000}"] += i }
lists = Array.new(200) { |i| Array.new(500, i) }
puts counts.size + lists.sum { |list| list.sum }
