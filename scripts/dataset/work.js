// For every engine of JavaScript: hot functions, garbage, and an array that grows.
var print = typeof print === 'function' ? print : console.log;
function sum(values) {
  var total = 0;
  for (var i = 0; i < values.length; ++i) total += values[i] & 7;
  return total;
}
var values = [];
var counts = {};
for (var i = 0; i < 50000; ++i) {
  values.push(i * 3);
  var key = 'key ' + (i % 1000);
  counts[key] = (counts[key] || 0) + 1;
}
var total = Object.keys(counts).length;
for (var round = 0; round < 20; ++round) total += sum(values);
print(total);
