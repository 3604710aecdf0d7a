//! Stored speed of another simulator, which `scripts/peers.py` measures.

use serde_json::Value;

/// Speed of htsim by case, and where it comes from.
pub struct Peers {
    /// Version of htsim.
    pub version: String,
    /// Day of the measurement.
    pub date: String,
    /// ns per cell of the reference loop during the measurement.
    reference_ns: f64,
    mcells_per_cpu_second: Value,
}

impl Peers {
    /// Reads `benches/peers.json`.
    pub fn read() -> Peers {
        let text = include_str!("../../../../benches/peers.json");
        let stored: Value = serde_json::from_str(text).expect("benches/peers.json is JSON");
        let word = |name: &str| stored[name].as_str().expect("a text").to_owned();
        Peers {
            version: word("htsim"),
            date: word("date"),
            reference_ns: stored["reference_ns"].as_f64().expect("a number"),
            mcells_per_cpu_second: stored["mcells_per_cpu_second"].clone(),
        }
    }

    /// How many times as fast as htsim a case is that takes `relative_time` times the reference
    /// loop. Both times are relative to it, since the machines differ.
    pub fn ratio(&self, case: &str, relative_time: f64) -> Option<f64> {
        let mcells = self.mcells_per_cpu_second[case].as_f64()?;
        Some(1e3 / mcells / self.reference_ns / relative_time)
    }
}
