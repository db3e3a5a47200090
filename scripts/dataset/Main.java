import java.util.ArrayList;
import java.util.HashMap;

/** Hot enough for the compilers, with garbage for the collector. */
class Main {
  static int sum(int[] values) {
    int total = 0;
    for (int value : values) total += value;
    return total;
  }

  public static void main(String[] arguments) {
    HashMap<String, Integer> counts = new HashMap<>();
    ArrayList<int[]> arrays = new ArrayList<>();
    for (int i = 0; i < 20000; ++i) {
      counts.merge("key " + i % 1000, i, Integer::sum);
      if (i % 100 == 0) arrays.add(new int[1000]);
    }
    int total = counts.size();
    for (int round = 0; round < 20; ++round) {
      for (int[] array : arrays) total += sum(array);
    }
    System.out.println(total);
  }
}
